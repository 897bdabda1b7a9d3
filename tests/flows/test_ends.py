"""However a run ends, its record says what happened and the next command can go on."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import small

from referee import api
from referee.actions.tree import TakeSnapshot
from referee.adapters.git import GitWorkspace
from referee.config import load
from referee.domain.errors import Cancelled, Diverged, UsageError
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.ports import Interpreter, Landing, Progress
from referee.wiring import desk as opening

WRONG = small.content(small.BUGGY.replace("a - b", "a * b"))
MENDED = small.proposal(edits=[{"old": "a * b", "new": "a + b"}])


class Bench:
    """A small repository and a scripted model that needs two rounds."""

    def __init__(self, folder: Path) -> None:
        self.repo = small.build(folder / "repo")
        self.model = small.script(folder / "script.jsonl", WRONG, MENDED)

    def fix(self, progress: Progress | None = None, **flags: Any) -> Outcome:
        chosen = {"generator": "model", "models.default": self.model, **flags}
        config = load(str(self.repo), flags=chosen, variables={}, user_file="")
        return api.fix(Task(repo=str(self.repo), text="add is wrong"), config, progress)

    def resume(self, progress: Progress | None = None, **budget: Any) -> Outcome:
        return api.resume(self.last, str(self.repo), budget, progress)

    @property
    def last(self) -> str:
        return api.runs(str(self.repo))[0].run_id


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def interrupting(fault: BaseException, step: int = 2) -> Progress:
    """Raises when a round begins, as a signal or a fault of ours would."""

    def tell(event: str, facts: Mapping[str, Any]) -> None:
        if event == "round" and facts["step"] == step:
            raise fault

    return tell


def test_a_run_stopped_by_hand_says_what_it_was_about(bench: Bench) -> None:
    report = bench.fix(interrupting(Cancelled())).report
    assert (report.stop_reason, report.exit) == (StopReason.HUMAN_ABORT, 130)
    assert report.targets == (small.TARGET,)
    assert report.generator == "model"
    assert report.landed is None
    (summary,) = api.runs(str(bench.repo))
    assert (summary.status, summary.stop_reason) == ("stopped", None)
    resumed = bench.resume().report
    assert resumed.solved
    assert resumed.started_at == report.started_at


def test_a_run_stopped_just_after_it_landed_says_that_it_landed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    land = GitWorkspace.land

    def stopped(self: GitWorkspace, run_id: str, before: str, after: str) -> Landing:
        land(self, run_id, before, after)
        raise Cancelled

    monkeypatch.setattr(GitWorkspace, "land", stopped)
    report = bench.fix().report
    assert report.stop_reason is StopReason.HUMAN_ABORT
    assert (bench.repo / "calc.py").read_text() == small.FIXED
    assert report.landed is not None
    assert report.touched_files == ("calc.py",)
    assert bench.resume().solved


def test_a_larger_budget_once_given_stays_given(bench: Bench) -> None:
    """Case C9: a resumed run that is stopped again goes on with what it had, not with the first budget."""
    assert bench.fix(**{"budget.max_steps": 1}).stop_reason is StopReason.STEPS_EXHAUSTED
    assert bench.resume(interrupting(Cancelled()), max_steps=4).stop_reason is StopReason.HUMAN_ABORT
    with pytest.raises(UsageError, match="has not ended"):
        api.show(bench.last, str(bench.repo))
    outcome = bench.resume()
    assert outcome.solved
    assert outcome.report.budget.max_steps == 4


def test_a_wrong_setting_found_late_is_mended_and_the_run_goes_on(bench: Bench, tmp_path: Path) -> None:
    """What was judged until then is paid for."""
    late = tmp_path / "late.jsonl"
    with pytest.raises(UsageError, match=r"referee resume 2\S+ goes on"):
        bench.fix(**{"models.fixer": f"scripted:{late}"})
    small.script(late, WRONG, MENDED)
    outcome = bench.resume()
    assert outcome.solved
    assert outcome.report.steps == 2


def test_our_own_fault_keeps_nobody_from_resuming_at_once(bench: Bench) -> None:
    with pytest.raises(ZeroDivisionError):
        bench.fix(interrupting(ZeroDivisionError()))
    assert bench.resume().solved


def test_what_is_not_landed_is_not_called_landed(bench: Bench) -> None:
    outcome = bench.fix(land="none")
    assert outcome.solved
    assert outcome.report.landed is None


def test_a_patch_that_has_no_place_is_refused_before_anything_is_paid(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="another place"):
        bench.fix(land=f"patch:{tmp_path}/missing/fix.patch")
    assert api.runs(str(bench.repo)) == ()


def test_an_unsolved_run_keeps_the_last_proposal_that_could_be_applied(bench: Bench) -> None:
    """A refusal that comes after it leaves nothing to look at."""
    small.script(bench.repo.parent / "script.jsonl", WRONG, small.proposal("tests/test_calc.py", content="x = 1\n"))
    outcome = bench.fix(**{"budget.max_steps": 2})
    assert not outcome.solved
    assert "+    return a * b" in outcome.diff


def test_a_patch_file_is_exact_where_text_is_not_utf_8(bench: Bench, tmp_path: Path) -> None:
    (bench.repo / "old.py").write_bytes("# caf\xe9\nX = 1\n".encode("latin-1"))
    honest = small.proposal()
    honest["files"].append({"path": "old.py", "action": "delete", "rationale": "not needed"})
    small.script(tmp_path / "script.jsonl", honest)
    assert bench.fix(land=f"patch:{tmp_path}/fix.patch").solved
    small.git(bench.repo, "apply", f"{tmp_path}/fix.patch")
    assert not (bench.repo / "old.py").exists()
    assert (bench.repo / "calc.py").read_text() == small.FIXED


def counted(bench: Bench) -> Mapping[str, int]:
    """How often each kind of action was really done to its end, over all legs of the run."""
    endings = [e for e in api.journal(bench.last, str(bench.repo)) if e.kind == "ended"]
    return Counter(e.action for e in endings if json.loads(e.payload)["outcome"] == "done")


def test_with_a_larger_budget_nothing_is_paid_or_judged_twice(bench: Bench, tmp_path: Path) -> None:
    at_once = Bench(tmp_path / "other")
    assert at_once.fix().solved
    assert bench.fix(**{"budget.max_steps": 1}).stop_reason is StopReason.STEPS_EXHAUSTED
    first = counted(bench)
    outcome = bench.resume(max_steps=4)
    assert outcome.solved
    legs, whole = counted(bench), counted(at_once)
    assert first["call_model"] == 1 and legs["call_model"] == whole["call_model"] == 2
    assert legs["execute"] == whole["execute"] and legs["land"] == whole["land"] == 1
    assert outcome.report.tokens == 300, "two calls of 150 tokens"


def test_a_changed_machine_is_told_and_is_no_bug_of_ours(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.fix(interrupting(Cancelled()))
    found = opening.find_python

    def other(*places: Any, **named: Any) -> Interpreter:
        real = found(*places, **named)
        packages = {**real.distributions, "pytest": "0.1"}
        return real.model_copy(update={"executable": real.executable + "x", "distributions": packages})

    with monkeypatch.context() as patched:
        patched.setattr(opening, "find_python", other)
        with pytest.raises(UsageError, match=r"pytest was \S+, is 0\.1\); put that back, or start a new run") as said:
            bench.resume()
        assert "Python was" in str(said.value)
    assert bench.resume().solved, "put back, the run goes on"


def test_a_divergence_that_nothing_explains_stays_ours(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.fix(interrupting(Cancelled()))
    monkeypatch.setattr(TakeSnapshot, "digest", "0" * 64)
    with pytest.raises(Diverged):
        bench.resume()


def test_gc_drops_what_ended_and_never_what_can_go_on(bench: Bench, tmp_path: Path) -> None:
    ended = Bench(tmp_path / "other")
    for some in (bench, ended):
        some.fix(interrupting(Cancelled()))
    assert ended.resume().solved
    for some in (bench, ended):
        long_ago = time.time() - 30 * 86_400
        for path in (some.repo / ".harness").rglob("*"):
            os.utime(path, (long_ago, long_ago), follow_symlinks=False)
    assert api.gc(str(bench.repo)) == ()
    assert api.gc(str(ended.repo)) == (ended.last,)
    with pytest.raises(UsageError, match="dropped after 7 days"):
        api.rollback(ended.last, str(ended.repo))
    assert bench.resume().solved, "the trees of its proposals are still there"


def test_a_run_whose_snapshot_was_dropped_says_so_on_resume(bench: Bench) -> None:
    assert bench.fix(**{"budget.max_steps": 1}).stop_reason is StopReason.STEPS_EXHAUSTED
    assert api.gc(str(bench.repo), 0) == (bench.last,)
    with pytest.raises(UsageError, match="was dropped by `referee gc`; start a new one"):
        bench.resume(max_steps=4)
