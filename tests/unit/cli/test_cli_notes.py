"""What is loud is said once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.api.recorder import Recorder
from referee.config import Config
from referee.domain.task import Task
from referee.ports import RunRecord
from referee.testing import FakeClock


def test_a_note_that_every_step_repeats_is_told_once() -> None:
    record = RunRecord(run_id="r", status="running", spec="{}", created="", fence=1)
    told: list[str] = []

    def hear(event: str, facts: Mapping[str, Any]) -> None:
        told.append(str(facts.get("text", event)))

    tell = Recorder(record, Task(text="t"), Config(), FakeClock()).listening(hear)
    for text in ("one", "two", "one"):
        tell("note", {"text": text})
        tell("check", {})
    assert told == ["one", "check", "two", "check", "check"]
