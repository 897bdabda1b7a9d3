"""The desk makes each thing once, whoever asks first."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import small

from referee import api
from referee.config import load
from referee.domain.errors import Cancelled
from referee.domain.reason import StopReason
from referee.domain.task import Task
from referee.ports import Sandbox
from referee.wiring import Desk
from referee.wiring import desk as opening


def test_threads_that_ask_at_once_get_the_same_sandbox(tmp_path: Path) -> None:
    """A second sandbox that nobody keeps is closed, and takes down what the first thread started in it."""
    repo = small.build(tmp_path / "repo")
    with Desk(str(repo), load(str(repo), variables={}, user_file="")) as desk, ThreadPoolExecutor(4) as pool:
        together = threading.Barrier(4)

        def ask(_: int) -> int:
            together.wait()
            return id(desk.sandbox)

        assert len(set(pool.map(ask, range(4)))) == 1


def test_the_sandbox_is_opened_where_a_signal_can_stop_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe in a thread kept a run that was stopped from ending for as long as it took."""

    def opened(**_: object) -> Sandbox:
        assert threading.current_thread() is threading.main_thread()
        raise Cancelled

    monkeypatch.setattr(opening, "open_sandbox", opened)
    repo = small.build(tmp_path / "repo")
    outcome = api.fix(Task(repo=str(repo)), load(str(repo), variables={}, user_file=""))
    assert outcome.stop_reason is StopReason.HUMAN_ABORT
