"""`referee schedule` and `referee worker --once`: what is due is begun once, and what came of it is kept."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import small

from referee import api
from referee.adapters.schedule import ScheduleFile
from referee.adapters.store.turn import turn
from referee.cli import main
from referee.domain.errors import Cancelled, WorldFault
from referee.domain.schedule import planned


def test_what_is_due_is_begun_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("REFEREE_GENERATOR", "search")
    repo = small.build(tmp_path / "repo")
    monkeypatch.chdir(repo)

    def listed() -> dict[str, Any]:
        capfd.readouterr()
        assert main(("schedule", "list", "--json")) == 0
        return {e["task"]: e for e in map(json.loads, capfd.readouterr().out.splitlines())}

    assert main(("schedule", "add", "every 1h", "later")) == 0
    assert main(("schedule", "add", "every 1s", "x")) == 2 and "too often" in capfd.readouterr().err
    now = time.time()
    past = [
        planned("every 1h", "mend add", now - 9_000, "fix", (small.TARGET,)),
        planned("every 1h", "ask", now - 4_000, "agent"),
    ]
    path = repo / ".harness" / "schedule.json"
    path.write_text(json.dumps([*json.loads(path.read_text()), *(p.model_dump(mode="json") for p in past)]))

    assert main(("worker", "--once", "--quiet")) == 0
    found = listed()
    assert found["mend add"]["last"]["words"] == "solved" and found["mend add"]["missed"] == 1
    assert "a + b" in (repo / "calc.py").read_text()
    assert found["ask"]["last"]["words"].startswith("it could not begin: no model is configured")
    assert found["later"]["last"] is None and all(e["due"] > now for e in found.values())
    capfd.readouterr()
    assert main(("worker", "--once")) == 0 and capfd.readouterr().out == ""
    assert main(("schedule", "remove", found["later"]["id"])) == 0 and "later" not in listed()


def test_what_ends_one_task_leaves_the_others_to_be_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("REFEREE_GENERATOR", "search")
    repo = str(small.build(tmp_path / "repo"))
    assert api.schedule(repo) == ()
    now = time.time()
    first, second = (planned("every 1h", t, now - 4_000, "fix", (small.TARGET,)) for t in ("first", "second"))
    file = ScheduleFile(f"{repo}/.harness/schedule.json")
    file.change(lambda _: (first, second))

    told: list[object] = []
    with turn(f"{repo}/.harness/turn.lock", "run other", None):
        assert api.work(repo, lambda _, facts: told.append(facts["text"])) == ()
    assert file.all() == (first, second), "what could not begin yet is still due"
    assert "stays due: run other" in str(told)

    def broken(error: BaseException) -> Any:
        left = [error]

        def tell(event: str, facts: Mapping[str, Any]) -> None:
            if left:
                raise left.pop()

        return tell

    with pytest.raises(Cancelled):
        api.work(repo, broken(Cancelled("stopped by a person")))
    assert [p.due for p in file.all() if p.due and p.due < now] == [second.due]

    file.change(lambda _: (first, second))
    one, two = api.work(repo, broken(WorldFault("the disk is full")))
    assert one.last and two.last
    assert (one.last.words, two.last.words) == ("it failed: the disk is full", "solved")
    assert [p.last for p in file.all()] == [one.last, two.last]
