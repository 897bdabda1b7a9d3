"""One at a time on a repository, in words; and a rollback is on the record of its run."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import small

from referee import api
from referee.adapters.store.turn import turn
from referee.api.spec import ROLLBACK, rolled_back
from referee.cli.entry import main
from referee.config import Config, load
from referee.domain.errors import UsageError, WorldFault
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.kernel.action import Effect
from referee.kernel.journal import Ending, Journal
from referee.wiring import Desk


def fix(repo: Path, wait: Callable[[str], object] | None = None) -> Outcome:
    model = small.script(repo.parent / "script.jsonl", small.proposal())
    config = load(str(repo), flags={"generator": "model", "models.default": model}, variables={}, user_file="")
    return api.fix(Task(repo=str(repo)), config, wait=wait)


def lock(repo: Path) -> str:
    (repo / ".harness").mkdir(exist_ok=True)
    return str(repo / ".harness/turn.lock")


def test_a_second_run_is_refused_and_names_the_first(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    before = small.state(repo)
    words = r"run 20260101-000000-abcd, process \d+ on \S+ is at work .* --wait"
    with turn(lock(repo), "run 20260101-000000-abcd", None), pytest.raises(UsageError, match=words):
        fix(repo)
    assert small.state(repo) == before
    assert api.runs(str(repo), refused=True) == (), "who was not let in leaves no trace"


def test_with_wait_the_second_run_comes_after_the_first(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    let_go = threading.Event()
    held = threading.Event()

    def first() -> None:
        with turn(lock(repo), "run first", None):
            held.set()
            let_go.wait(60)

    thread = threading.Thread(target=first)
    thread.start()
    held.wait(60)
    said: list[str] = []

    def told(words: str) -> None:
        said.append(words)
        let_go.set()

    assert fix(repo, told).solved
    assert len(said) == 1 and said[0].startswith("waiting for run first, process ")
    thread.join()


def test_a_killed_holder_is_in_nobodys_way(tmp_path: Path) -> None:
    path = str(tmp_path / "turn.lock")
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with turn(path, "run a", None):
            os.write(write, b"x")
            signal.pause()
    os.read(read, 1)
    with pytest.raises(UsageError, match="run a"), turn(path, "run b", None):
        pass
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with turn(path, "run b", None):
        pass


def test_a_lock_that_cannot_be_made_is_the_operators_to_mend(tmp_path: Path) -> None:
    with pytest.raises(WorldFault, match="cannot be opened"), turn(str(tmp_path / "no/turn.lock"), "run a", None):
        pass


def test_a_rollback_is_on_the_record_and_the_run_cannot_be_resumed(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    before = small.state(repo)
    run_id = fix(repo).report.run_id
    with turn(lock(repo), "run other", None), pytest.raises(UsageError, match="run other"):
        api.rollback(run_id, str(repo))
    assert api.rollback(run_id, str(repo)).restored == ("calc.py",)
    assert api.rollback(run_id, str(repo)).unchanged == ("calc.py",)
    assert small.state(repo) == before
    entries = [e for e in api.journal(run_id, str(repo)) if e.action == "rollback"]
    assert [e.kind for e in entries] == ["requested", "ended"] * 2
    assert json.loads(json.loads(entries[1].payload)["result"])["restored"] == ["calc.py"]
    assert api.verify(run_id, str(repo)).ok
    with turn(lock(repo), "run other", None), pytest.raises(UsageError, match="run other"):
        api.gc(str(repo))
    [summary] = api.runs(str(repo))
    assert (summary.status, summary.solved) == ("done", True)
    with pytest.raises(UsageError, match="nothing to resume"):
        api.resume(run_id, str(repo), {"max_steps": 20})


@pytest.mark.parametrize(("ending", "counts"), [("", True), ("done", True), ("fault", False)])
def test_a_rollback_that_was_cut_off_counts_and_one_that_failed_does_not(
    tmp_path: Path, ending: str, counts: bool
) -> None:
    """Going on with the run would do again what a person may have half undone."""
    with Desk(str(small.build(tmp_path / "repo")), Config()) as desk:
        desk.store.create("r", "{}", "t")
        journal = Journal(desk.store, desk.store.claim("r", "me", desk.clock.now(), 30), desk.clock)
        assert not rolled_back(desk, "r")
        key = f"{ROLLBACK}1/1:rollback"
        journal.request(key, "rollback", {"action_digest": "d"}, Effect.LAND)
        if ending:
            journal.end(key, "rollback", Ending(outcome=ending), durable=False)
        assert rolled_back(desk, "r") is counts


def test_refused_runs_are_listed_only_when_asked_for(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    (repo / ".git/MERGE_HEAD").write_text(small.git(repo, "rev-parse", "HEAD"))
    with pytest.raises(UsageError, match="merge"):
        fix(repo)
    assert api.runs(str(repo)) == ()
    assert len(api.runs(str(repo), refused=True)) == 1


def test_a_file_changed_since_shows_both_sides_and_what_to_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = small.build(tmp_path / "repo")
    run_id = fix(repo).report.run_id
    mine = small.FIXED.replace("a + a", "a * 2")
    (repo / "calc.py").write_text(mine)
    assert main(["rollback", run_id, "--repo", str(repo)]) == 1
    out = capsys.readouterr().out
    assert "kept       calc.py (changed since by somebody else)" in out
    assert "-    return a + a\n+    return a * 2\n" in out and "-    return a + b\n+    return a - b\n" in out
    assert f"referee rollback {run_id} --merge" in out
    assert (repo / "calc.py").read_text() == mine
    assert main(["rollback", run_id, "--merge", "--repo", str(repo)]) == 0
    assert "merged     calc.py" in capsys.readouterr().out
    assert (repo / "calc.py").read_text() == small.BUGGY.replace("a + a", "a * 2")
    (repo / "calc.py").write_text(small.FIXED.replace("a + b", "b + a"))
    assert main(["rollback", run_id, "--merge", "--repo", str(repo)]) == 1
    assert "git apply --reject --include=calc.py" in capsys.readouterr().out
