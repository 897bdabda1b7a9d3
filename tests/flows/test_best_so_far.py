"""The best attempt is kept: a later one that is worse is undone, and the next is made on top of the best (A4)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import small

from referee import api
from referee.config import load
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task

CODE = "def add(a, b):\n    return a - b\n\n\ndef twice(a):\n    return a\n"
TESTS = (
    "from calc import add, twice\n\n\ndef test_add():\n    assert add(2, 3) == 5\n\n\n"
    "def test_twice():\n    assert twice(4) == 8\n"
)
TARGETS = ("tests/test_calc.py::test_add", "tests/test_calc.py::test_twice")
HALF = small.proposal(edits=[{"old": "a - b", "new": "a + b"}])  # mends one of the two
BACK = small.proposal(edits=[{"old": "a + b", "new": "a * b"}])  # breaks it again
REST = small.proposal(edits=[{"old": "    return a\n", "new": "    return a + a\n"}])


def play(tmp_path: Path, *replies: dict[str, Any], seen: list[str] | None = None, **flags: Any) -> tuple[Path, Outcome]:
    repo = small.build(tmp_path / "repo", {"calc.py": CODE, "tests/test_calc.py": TESTS})
    model = small.script(tmp_path / "script.jsonl", *replies)
    config = load(str(repo), flags={"generator": "model", "models.default": model, **flags}, variables={}, user_file="")

    def tell(event: str, facts: Mapping[str, Any]) -> None:
        if seen is not None:
            seen.append(event)

    return repo, api.fix(Task(repo=str(repo), text="sums are wrong", targets=TARGETS), config, tell)


def test_a_step_back_is_undone_and_the_best_is_built_on(tmp_path: Path) -> None:
    seen: list[str] = []
    repo, outcome = play(tmp_path, HALF, BACK, REST, seen=seen)
    assert outcome.solved
    assert [i.passed for i in outcome.report.iterations] == [False, False, True]
    assert seen.count("back") == 1
    assert (repo / "calc.py").read_text() == "def add(a, b):\n    return a + b\n\n\ndef twice(a):\n    return a + a\n"


def test_an_unsolved_run_shows_the_best_attempt_not_the_last(tmp_path: Path) -> None:
    repo, outcome = play(tmp_path, HALF, BACK, **{"budget.max_steps": 2})
    assert outcome.stop_reason is StopReason.STEPS_EXHAUSTED
    assert "+    return a + b" in outcome.diff
    assert (repo / "calc.py").read_text() == CODE


def test_going_round_in_circles_ends_the_run(tmp_path: Path) -> None:
    """Two failures that alternate are no progress, although no two in a row are alike."""
    text, replies = "    return a\n", []
    for n, value in enumerate((1, 2, 1, 2, 1)):
        new = f"    return {value}  # {n}\n"  # never the same patch twice
        replies.append(small.proposal(edits=[{"old": text, "new": new}]))
        text = new
    _, outcome = play(tmp_path, *replies)
    assert outcome.stop_reason is StopReason.NON_PROGRESS
    assert len(outcome.report.iterations) == 4
