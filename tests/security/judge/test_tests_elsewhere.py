"""Tests are not the author's to change wherever a project keeps them: by its own patterns, in data, in docstrings."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "flows"))
import small

from referee import api
from referee.config import load
from referee.domain.protection import Protection
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.judge import test_patterns as patterns

PASSES = "def test_add(): pass\n"
DOCTEST = 'def add(a, b):\n    """\n    >>> add(2, 3)\n    5\n    """\n    return a - b\n'


def _play(repo: Path, target: str, proposal: dict[str, object]) -> Outcome:
    model = small.script(repo.parent / "script.jsonl", proposal)
    flags = {"generator": "model", "models.default": model}
    config = load(str(repo), flags=flags, variables={}, user_file="")
    return api.fix(Task(repo=str(repo), text="add is wrong", targets=(target,)), config, None)


@pytest.mark.parametrize(
    ("test", "ini"),
    [("checks/check_calc.py", "python_files = check_*.py"), ("app/tests.py", "python_files = tests.py"),
     ("checks/sums.py", "python_files = *.py\ntestpaths = checks")],
)  # fmt: skip
def test_files_that_the_project_calls_tests_are_protected(tmp_path: Path, test: str, ini: str) -> None:
    files = {"calc.py": small.BUGGY, test: small.TESTS, "pytest.ini": f"[pytest]\npythonpath = .\n{ini}\n"}
    repo = small.build(tmp_path / "repo", files)
    outcome = _play(repo, f"{test}::test_add", small.content(PASSES, test))
    assert not outcome.solved
    assert outcome.report.unauthorised >= 1
    assert _play(repo, f"{test}::test_add", small.proposal()).solved


def test_examples_in_the_code_are_kept(tmp_path: Path) -> None:
    files = {"calc.py": DOCTEST, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"}
    repo = small.build(tmp_path / "repo", files)
    wrong = DOCTEST.replace("    5\n", "    -1\n")
    outcome = _play(repo, "calc.py::calc.add", small.content(wrong))
    assert not outcome.solved
    assert outcome.report.unauthorised >= 1
    more = DOCTEST.replace("a - b", "a + b").replace("    5\n", "    5\n    >>> add(1, 1)\n    2\n")
    assert _play(repo, "calc.py::calc.add", small.content(more)).solved


def test_what_the_configuration_adds_is_never_everything() -> None:
    def of(text: str) -> tuple[str, ...]:
        return patterns({"pytest.ini": f"[pytest]\n{text}\n".encode()}.get)

    assert of("python_files = check_*.py *_spec.py") == ("check_*.py", "*_spec.py")
    assert of("python_files = *.py\ntestpaths = checks . src/*") == ("/checks/",)
    assert of("python_files = !x.py") == ()
    guard = Protection(protected=of("python_files = *.py\ntestpaths = checks"))
    assert guard.guarded("checks/deep/x.py")
    assert not guard.guarded("src/checks.py")


def test_expectations_kept_as_data_are_protected() -> None:
    for path in ("pkg/testdata/want.json", "golden/a.txt", "pkg/__snapshots__/a.ambr", "a.snap", "pkg/tests.py"):
        assert Protection().guarded(path)
    assert not Protection().guarded("data/model.json")
