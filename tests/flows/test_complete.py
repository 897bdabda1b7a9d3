"""`fix --preset tests`: a test is accepted if it passes now, always, and notices faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import small

from referee import api
from referee.cli import main
from referee.domain.protection import Protection

TODAY = "from calc import add, double\n\n\ndef test_double():\n    assert double(4) == 8\n"
PLACE = "tests/test_more.py"
GOOD = "from calc import add\n\n\ndef test_sum():\n    assert add(2, 3) == 5\n    assert add(-1, 1) == 0\n"
SILENT = "from calc import add\n\n\ndef test_sum():\n    add(2, 3)\n"
FAILING = GOOD.replace("== 5", "== 6")
FLAKY = (
    "import os, time\nfrom calc import add\n\n\ndef test_sum():\n"
    "    assert add(2, 3) == 5 and time.time_ns() // 1000 % 4\n"
)
Fix = Callable[..., SimpleNamespace]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return small.build(tmp_path / "repo", {"calc.py": small.FIXED, "tests/test_calc.py": TODAY})


@pytest.fixture
def fix(tmp_path: Path, repo: Path, capfd: pytest.CaptureFixture[str]) -> Fix:
    def run(*proposals: dict[str, Any], steps: int = 3, more: tuple[str, ...] = ()) -> SimpleNamespace:
        model = small.script(tmp_path / "script.jsonl", *proposals)
        given = ["--preset", "tests", "--model", model, "--generator", "model", "--max-steps", str(steps)]
        code = main(["fix", "--repo", str(repo), "--json", "-q", *given, *more])
        said = capfd.readouterr()
        return SimpleNamespace(code=code, report=json.loads(said.out) if said.out else {}, err=said.err)

    return run


def new(text: str, path: str = PLACE) -> dict[str, Any]:
    return small.proposal(path, action="create", content=text)


def test_a_test_that_says_something_lands_with_its_score(fix: Fix, repo: Path) -> None:
    """First it asserts nothing, then it is wrong, then it is good: three steps."""
    done = fix(new(SILENT), new(FAILING), new(GOOD))
    assert done.code == 0, (done.report, done.err)
    report = done.report
    assert (report["steps"], report["touched_files"], report["targets"]) == (3, [PLACE], [f"{PLACE}::test_sum"])
    assert (repo / PLACE).read_text() == GOOD
    replayed = api.replay(report["run_id"], str(repo))
    assert (replayed.same, replayed.decisions) == (True, 3)
    keys = [e["key"] for e in api.journal_lines(report["run_id"], str(repo))]
    assert [k for k in keys if k.startswith("verdict:")] == ["verdict:1", "verdict:2", "verdict:3"]
    assert sum(":decision:" in k for k in keys) == 3
    scores = [n for n in report["notes"] if n.startswith("mutation score")]
    assert len(scores) == 2 and "notice 0 of" in scores[0] and "notice 0 of" not in scores[1]
    assert main(["rollback", report["run_id"], "--repo", str(repo)]) == 0
    assert not (repo / PLACE).exists()


def test_a_test_that_fails_now_and_then_is_refused(fix: Fix, repo: Path) -> None:
    done = fix(new(FLAKY), steps=1)
    assert done.code == 1 and not (repo / PLACE).exists()
    [row] = done.report["iterations"]
    assert row["failed"] and "mutation score" not in json.dumps(done.report["notes"])


@pytest.mark.parametrize("path", ["calc.py", "tests/test_calc.py", "tests/conftest.py", "helper.py"])
def test_nothing_but_new_tests_may_be_written(fix: Fix, repo: Path, path: str) -> None:
    there = (repo / path).exists()
    wanted = small.content(GOOD, path) if there else new(GOOD, path)
    before = small.state(repo)
    done = fix(wanted, steps=1)
    assert done.code == 1 and done.report["unauthorised"] == 1
    assert small.state(repo) == before


def test_a_no_keeps_the_tests_out(fix: Fix, repo: Path) -> None:
    done = fix(new(GOOD), more=("--ask-before-landing",))
    assert (done.code, done.report["stop_reason"]) == (4, "needs_signature")
    [asked] = api.questions(str(repo))
    api.answer(asked.id, "no", str(repo))
    ended = api.resume(asked.run_id, str(repo))
    assert (ended.stop_reason.value, ended.report.exit) == ("human_abort", 130)
    assert not (repo / PLACE).exists()
    replayed = api.replay(asked.run_id, str(repo))
    assert (replayed.same, replayed.first_difference) == (True, None)


def test_what_fresh_tests_allow() -> None:
    allowed = Protection(fresh_tests=True)
    assert allowed.objection("tests/test_a.py") is None and allowed.objection("a/b_test.py") is None
    for path in ("a.py", "tests/conftest.py", "tests/data.txt", ".github/test_a.py", "_pytest/test_a.py"):
        assert allowed.objection(path), path
