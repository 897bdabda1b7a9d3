"""The linter's own fixes and the formatter, before anything that costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import small

from referee import api
from referee.config import load
from referee.domain.report import Outcome
from referee.domain.task import Task

RUFF = '[tool.ruff]\nline-length = 100\n[tool.ruff.lint]\nselect = ["F", "I"]\n'
CLEAN = small.BUGGY.replace("a - b", "a + b")


def build(root: Path, calc: str) -> Path:
    return small.build(root / "repo", {"calc.py": calc, "tests/test_calc.py": small.TESTS, "pyproject.toml": RUFF})


def fix(repo: Path, target: str, **flags: Any) -> Outcome:
    config = load(str(repo), flags=flags, variables={}, user_file="")
    return api.fix(Task(repo=str(repo), targets=(target,)), config)


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    return build(tmp_path, "import sys\nimport os\n\nprint(os)\n\n\n" + CLEAN)


def test_what_only_a_linter_objects_to_needs_neither_search_nor_model(messy: Path) -> None:
    outcome = fix(messy, "ruff check calc.py")
    assert outcome.solved, outcome.report
    assert (outcome.report.generator, outcome.report.steps, outcome.report.cost_usd) == ("mechanical", 1, 0)
    assert (messy / "calc.py").read_text() == "import os\n\nprint(os)\n\n\n" + CLEAN


def test_a_proposal_that_is_only_untidy_is_tidied_and_not_asked_for_again(tmp_path: Path) -> None:
    repo = build(tmp_path, small.BUGGY)
    for key, value in {"user.name": "t", "user.email": "t@example.invalid"}.items():
        small.git(repo, "config", key, value)  # the machine may know nobody
    untidy = "import os\n" + small.FIXED.replace("a + b", "a+b")
    model = small.script(tmp_path / "script.jsonl", small.content(untidy))
    outcome = fix(repo, small.TARGET, generator="model", land="commit", **{"models.default": model})
    assert outcome.solved
    message = small.git(repo, "log", "-1", "--format=%B")
    assert small.content(untidy)["root_cause"] in message, "who only tidies did not find the cause"
    assert outcome.report.explanation == small.content(untidy)["root_cause"]
    assert [i.author for i in outcome.report.iterations] == [f"generator {model}", "mechanical"]
    assert outcome.report.tokens == 150, "one call"
    assert (repo / "calc.py").read_text() == small.FIXED


def test_what_ruff_cannot_mend_goes_back_to_the_model(tmp_path: Path) -> None:
    repo = build(tmp_path, small.BUGGY)
    undefined = small.FIXED + "\n\nprint(nothing)\n"
    model = small.script(tmp_path / "script.jsonl", small.content(undefined), small.content(small.FIXED))
    outcome = fix(repo, small.TARGET, generator="model", **{"models.default": model})
    assert outcome.solved
    assert outcome.report.steps == 2, "a mechanic with nothing to offer costs no step"
