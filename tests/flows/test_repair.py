"""The whole loop over the real workspace, sandbox and judge, with a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import small

from referee import api
from referee.config import Config, load
from referee.domain.errors import UsageError
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.kernel.journal import check_chain
from referee.ports import Progress

Play = Callable[..., Outcome]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return small.build(tmp_path / "repo")


def settings(repo: Path, **flags: Any) -> Config:
    return load(str(repo), flags={"generator": "model", **flags}, variables={}, user_file="")


@pytest.fixture
def play(repo: Path, tmp_path: Path) -> Play:
    """Let a scripted model answer; the user's own files are looked at by the test."""

    def run(
        *replies: dict[str, Any] | str,
        targets: tuple[str, ...] = (small.TARGET,),
        progress: Progress | None = None,
        **flags: Any,
    ) -> Outcome:
        model = small.script(tmp_path / "script.jsonl", *replies)
        config = settings(repo, **{"models.default": model, **flags})
        return api.fix(Task(repo=str(repo), text="add is wrong", targets=targets), config, progress)

    return run


def test_an_honest_fix_lands_and_the_record_tells_how(play: Play, repo: Path) -> None:
    outcome = play(small.proposal())
    assert outcome.solved
    assert (repo / "calc.py").read_text() == small.FIXED
    report = outcome.report
    assert (report.steps, report.touched_files, report.tokens) == (1, ("calc.py",), 150)
    assert report.isolation is not None
    assert report.isolation.level == "full"
    assert report.tool_seconds > 0
    written = json.loads((repo / ".harness/reports" / f"{report.run_id}.json").read_text())
    assert written["schema"] == "referee.report/1"
    assert written["iterations"][0]["passed"] is True
    assert check_chain(api.journal(report.run_id, str(repo))) is None
    assert small.git(repo, "status", "--porcelain") == " M calc.py\n"


def test_a_wrong_fix_is_fed_back_and_mended(play: Play, repo: Path) -> None:
    outcome = play(
        small.content(small.BUGGY.replace("a - b", "a * b")), small.proposal(edits=[{"old": "a * b", "new": "a + b"}])
    )
    assert outcome.solved
    assert [i.passed for i in outcome.report.iterations] == [False, True]
    assert (repo / "calc.py").read_text() == small.FIXED


def test_what_one_attempt_made_the_next_may_remove(play: Play, repo: Path) -> None:
    """Judged from the base, such a file is no change: there is nothing there to delete."""
    first = small.proposal(edits=[{"old": "a - b", "new": "a * b"}])
    first["files"].append({"path": "extra.py", "action": "create", "content": "X = 1\n", "rationale": "a try"})
    second = small.proposal(edits=[{"old": "a * b", "new": "a + b"}])
    second["files"].append({"path": "extra.py", "action": "delete", "rationale": "not needed"})
    outcome = play(first, second)
    assert outcome.solved
    assert outcome.report.touched_files == ("calc.py",)
    assert small.git(repo, "status", "--porcelain") == " M calc.py\n"


def test_a_fix_that_breaks_another_test_is_caught_at_the_gate(play: Play, repo: Path) -> None:
    """Case B7."""
    broken = small.FIXED.replace("a + a", "a * a")
    outcome = play(small.content(broken), small.content(broken + "\n# again\n"))
    assert outcome.stop_reason is StopReason.GATE_REGRESSION
    assert (repo / "calc.py").read_text() == small.BUGGY


def test_the_same_failure_twice_stops_the_run(play: Play, repo: Path) -> None:
    wrong = small.BUGGY.replace("a - b", "a - b + 0")
    outcome = play(small.content(wrong), small.content(wrong + "# more\n"))
    assert outcome.stop_reason is StopReason.NON_PROGRESS
    assert outcome.report.steps == 2


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/test_calc.py", "def test_add(): pass\n"),
        ("conftest.py", "import pytest\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--collect-only'\n"),
        ("evil.pth", "import os\n"),
        ("evil-1.dist-info/entry_points.txt", "[pytest11]\nx = y\n"),
        ("sitecustomize.py", "import os\n"),
    ],
)
def test_what_judges_is_not_the_authors_to_change(play: Play, repo: Path, path: str, text: str) -> None:
    """Cases B1, B3, B5, B6: refused as a finding, counted, nothing written."""
    before = small.state(repo)
    action = "modify" if (repo / path).exists() else "create"
    outcome = play(small.proposal(path, action=action, content=text))
    assert not outcome.solved
    assert outcome.report.unauthorised >= 1
    assert small.state(repo) == before


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.py", ".git/hooks/pre-commit", "a/../../b.py"])
def test_paths_that_lead_out_are_refused_before_anything_happens(play: Play, repo: Path, path: str) -> None:
    before = small.state(repo)
    outcome = play(small.proposal(path, action="create", content="x = 1\n"))
    assert not outcome.solved
    assert small.state(repo) == before


def test_a_link_in_the_way_leads_nowhere(play: Play, repo: Path, tmp_path: Path) -> None:
    """Case D9: a path check that resolved text but a write that followed the link."""
    outside = tmp_path / "outside.py"
    (repo / "link.py").symlink_to(outside)
    (repo / "folder").symlink_to(tmp_path)
    for path in ("link.py", "folder/new.py"):
        assert not play(small.proposal(path, action="create", content="x = 1\n")).solved
    assert not outside.exists()
    assert not (tmp_path / "new.py").exists()


def test_a_reply_that_is_no_proposal_is_a_schema_failure(play: Play) -> None:
    assert play("I would change the minus to a plus.").stop_reason is StopReason.SCHEMA_FAILURE


def test_a_solved_run_can_be_rolled_back_later(play: Play, repo: Path) -> None:
    before = small.state(repo)
    outcome = play(small.proposal())
    done = api.rollback(outcome.report.run_id, str(repo))
    assert done.restored == ("calc.py",)
    after = small.state(repo)
    assert {k: v for k, v in after.items() if k != ".git/index"} == {
        k: v for k, v in before.items() if k != ".git/index"
    }


def test_landing_as_a_patch_or_not_at_all_leaves_the_tree(play: Play, repo: Path, tmp_path: Path) -> None:
    before = small.state(repo)
    patch = tmp_path / "fix.patch"
    assert play(small.proposal(), land=f"patch:{patch}").solved
    assert play(small.proposal(), land="none").solved
    assert small.state(repo) == before
    small.git(repo, "apply", str(patch))
    assert (repo / "calc.py").read_text() == small.FIXED


def test_what_does_not_fail_is_not_repaired(play: Play) -> None:
    green = play(small.proposal(), targets=("tests/test_calc.py::test_double",))
    assert green.stop_reason is StopReason.NOT_REPRODUCED


def test_an_unknown_target_is_a_usage_error_with_the_nearest_name(play: Play) -> None:
    with pytest.raises(UsageError, match="test_add"):
        play(small.proposal(), targets=("tests/test_calc.py::test_ad",))


def test_without_a_target_the_failing_suite_is_the_target(play: Play) -> None:
    outcome = play(small.proposal(), targets=())
    assert outcome.solved
    assert outcome.report.targets == (small.TARGET,)


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ({"budget.max_steps": 1}, StopReason.STEPS_EXHAUSTED),
        ({"budget.max_tokens": 100}, StopReason.TOKEN_EXHAUSTED),
    ],
)
def test_each_limit_stops_the_run(play: Play, flags: dict[str, Any], reason: StopReason) -> None:
    """Case C1: every limit has a test that trips it."""
    replies = [small.content(small.BUGGY.replace("a - b", f"a - b + {n}")) for n in range(1, 6)]
    assert play(*replies, **flags).stop_reason is reason


def test_a_budget_stop_is_resumed_with_more_and_pays_nothing_twice(play: Play, repo: Path) -> None:
    """Cases C9, C10, C11."""
    wrong = small.content(small.BUGGY.replace("a - b", "a * b"))
    first = play(wrong, small.proposal(edits=[{"old": "a * b", "new": "a + b"}]), **{"budget.max_steps": 1})
    assert first.stop_reason is StopReason.STEPS_EXHAUSTED
    second = api.resume(first.report.run_id, str(repo), {"max_steps": 4})
    assert second.solved
    assert (second.report.steps, second.report.tokens) == (2, 300)
    calls = [e for e in api.journal(first.report.run_id, str(repo)) if e.action == "call_model" and e.kind == "ended"]
    assert len(calls) == 2


@pytest.mark.slow
def test_a_command_that_the_runs_time_cuts_off_says_nothing_about_the_judge(play: Play, repo: Path) -> None:
    """Case C9: with more time the same command is run again, not recalled as one that hangs."""
    slow = small.TESTS + "\n\ndef test_slow():\n    import time\n\n    time.sleep(4)\n"
    (repo / "tests/test_calc.py").write_text(slow)
    first = play(small.proposal(), **{"budget.timeout": 4.0})
    assert first.stop_reason is StopReason.TIMEOUT
    assert first.report.tool_seconds > 0
    assert api.resume(first.report.run_id, str(repo), {"timeout": 120.0}).solved


@pytest.mark.slow
def test_a_check_whose_time_ends_is_a_report_that_did_not_pass(repo: Path) -> None:
    (repo / "tests/test_calc.py").write_text("import time\n\n\ndef test_slow():\n    time.sleep(9)\n")
    report = api.check(str(repo), settings(repo, **{"budget.timeout": 2.0}))
    assert not report.passed
    assert "--timeout" in report.feedback
