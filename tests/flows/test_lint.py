"""`referee lint`: the fixers in one go, a diff, what is left, and the way back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import small

from referee import api
from referee.cli import main

RUFF = '[tool.ruff]\n[tool.ruff.lint]\nselect = ["F", "I"]\n'
MESSY = "import sys\nimport os\n\nprint( os, nothing )\n"
TIDY = "import os\n\nprint(os, nothing)\n"
TESTS = "import os\nimport calc\n\ndef test_it(): assert calc\n"
Lint = Callable[..., SimpleNamespace]


@pytest.fixture
def lint(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Lint:
    def run(repo: Path, *arguments: str, command: str = "lint") -> SimpleNamespace:
        code = main([command, "--repo", str(repo), *arguments])
        said = capfd.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err)

    return run


def build(root: Path, calc: str = MESSY, config: str = RUFF) -> Path:
    return small.build(root / "repo", {"calc.py": calc, "tests/test_calc.py": TESTS, "pyproject.toml": config})


def test_a_look_writes_nothing_and_a_fix_can_be_undone(tmp_path: Path, lint: Lint) -> None:
    repo = build(tmp_path)
    before = small.state(repo)
    look = lint(repo)
    assert look.code == 1 and "-import sys" in look.out and "write them with: referee lint --fix" in look.out
    assert small.state(repo) == before
    done = lint(repo, "--fix", "--json")
    report = json.loads(done.out)
    assert (done.code, report["landed"], report["fixed"]) == (1, True, ["calc.py"])
    assert (repo / "calc.py").read_text() == TIDY
    assert ("calc.py", "F821") in {(f["path"], f["rule"]) for f in report["left"]}
    assert any(f["path"] == "tests/test_calc.py" for f in report["left"]), "tests are protected, and told"
    assert (repo / "tests/test_calc.py").read_text() == TESTS
    assert lint(repo, report["run_id"], command="rollback").code == 0
    assert small.state(repo) == before


def test_what_is_clean_needs_nothing(tmp_path: Path, lint: Lint) -> None:
    repo = small.build(tmp_path / "repo", {"calc.py": "import os\n\nprint(os)\n", "pyproject.toml": RUFF})
    done = lint(repo, "--fix")
    assert (done.code, done.out) == (0, "nothing is left\n")


def test_without_configuration_the_defaults_are_used_and_that_is_said(tmp_path: Path, lint: Lint) -> None:
    repo = small.build(tmp_path / "repo", {"calc.py": "import sys\nprint( 'x' )\n"})
    done = lint(repo, "--fix")
    assert done.code == 0 and "without configuration" in done.err
    assert (repo / "calc.py").read_text() == 'print("x")\n'


def test_a_project_without_python_says_what_is_missing(tmp_path: Path, lint: Lint) -> None:
    repo = small.build(tmp_path / "repo", {"a.txt": "x\n", "pyproject.toml": RUFF})
    done = lint(repo, "--fix")
    assert done.code == 2 and "no file here" in done.err


def test_fixes_wait_for_a_person_and_a_no_writes_nothing(tmp_path: Path, lint: Lint) -> None:
    config = {"pyproject.toml": RUFF, "referee.toml": 'ask_before_landing = "approval"\n'}
    repo = small.build(tmp_path / "repo", {"calc.py": "import sys\nimport os\n\nprint(os)\n", **config})
    before = small.state(repo)
    waits = lint(repo, "--fix")
    assert waits.code == 4 and "referee answer" in waits.out and "would be fixed" not in waits.out
    [asked] = api.questions(str(repo))
    api.answer(asked.id, "no", str(repo))
    ended = api.resume(asked.run_id, str(repo))
    assert (ended.stop_reason.value, ended.report.exit) == ("human_abort", 130)
    assert small.state(repo) == before
    assert api.replay(asked.run_id, str(repo)).same
