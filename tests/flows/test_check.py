"""`check` on projects as they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import small

from referee import api
from referee.adapters.git import GitWorkspace
from referee.config import load
from referee.domain.task import Task

HOOK_ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null", "LANG": "C.UTF-8"}


def test_a_linters_report_of_megabytes_is_read_whole(tmp_path: Path) -> None:
    """An untidy project is not an unreadable one."""
    untidy = "".join(f"l{n} = lambda: {n};\n" for n in range(3_000))
    files = {
        "pyproject.toml": '[tool.ruff.lint]\nselect = ["E"]\n',
        "untidy.py": untidy,
        "calc.py": small.FIXED,
        "tests/test_calc.py": small.TESTS,
    }
    repo = small.build(tmp_path / "repo", files)
    report = api.check(str(repo), load(str(repo), variables={}, user_file=""))
    ruff = next(s for s in report.layers if s.check == "ruff")
    assert (ruff.state.value, ruff.note) == ("fail", "")
    assert len([f for f in report.findings if f.check == "ruff"]) == 6_000
    assert len(report.feedback) <= 4_000


def test_an_environment_that_git_does_not_ignore_is_shown_and_not_copied(tmp_path: Path) -> None:
    """`python -m venv` writes no .gitignore before 3.13, and a copy without its programs runs nothing."""
    repo = small.build(tmp_path / "repo")
    venv.create(repo / ".venv", with_pip=False, symlinks=True)
    (repo / ".venv/.gitignore").unlink(missing_ok=True)
    assert ".venv/" in small.git(repo, "status", "--porcelain")
    workspace = GitWorkspace(str(repo))
    paths = workspace.paths(workspace.snapshot("r").tree)
    workspace.close()
    assert paths == ("calc.py", "tests/test_calc.py")


def test_a_project_without_tests_is_not_passed(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"calc.py": small.FIXED})
    report = api.check(str(repo), load(str(repo), variables={}, user_file=""))
    assert not report.passed
    assert "there are no tests" in report.layers[-1].note


def test_a_linter_that_cannot_run_on_the_tree_as_it_is_is_left_out_loudly(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "[tool.mypy]\nfiles = ['calc.py', 'a/dup.py', 'b/dup.py']\n",
        "a/dup.py": "x = 1\n",
        "b/dup.py": "x = 1\n",
        "calc.py": small.BUGGY,
        "tests/test_calc.py": small.TESTS,
    }
    repo = small.build(tmp_path / "repo", files)
    model = small.script(tmp_path / "s.jsonl", small.proposal())
    flags = {"generator": "model", "models.default": model}
    config = load(str(repo), flags=flags, variables={}, user_file="")
    outcome = api.fix(Task(repo=str(repo), targets=(small.TARGET,)), config)
    assert outcome.solved
    assert any("mypy is left out" in note for note in outcome.report.notes)


def test_a_hook_of_a_commit_may_check_while_the_commit_holds_the_index(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    hook = repo / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -m referee check --json\n")
    hook.chmod(0o755)
    said = subprocess.run(
        [*small.GIT, "commit", "-qam", "x", "--allow-empty"], cwd=repo, capture_output=True, text=True, env=HOOK_ENV
    )
    assert said.returncode == 1
    assert json.loads(said.stderr + said.stdout)["passed"] is False, "the hook judged, and objected to the bug"
    (repo / "calc.py").write_text(small.FIXED)
    subprocess.run([*small.GIT, "commit", "-qam", "mend"], cwd=repo, check=True, capture_output=True, env=HOOK_ENV)


def test_only_what_changed_is_linted(tmp_path: Path) -> None:
    """Old findings elsewhere do not stop a commit; tests are never left out."""
    files = {
        "pyproject.toml": '[tool.ruff.lint]\nselect = ["F"]\n',
        "old.py": "import os\n",
        "calc.py": small.FIXED,
        "tests/test_calc.py": small.TESTS,
    }
    repo = small.build(tmp_path / "repo", files)
    config = load(str(repo), variables={}, user_file="")

    def said(*, changed: bool) -> list[tuple[str, str]]:
        report = api.check(str(repo), config, changed=changed)
        assert next(s for s in report.layers if s.check == "pytest-suite").passing
        return [(f.check, f.path) for f in report.findings if f.check == "ruff"]

    assert said(changed=False) == [("ruff", "old.py")]
    assert said(changed=True) == []
    (repo / "new.py").write_text("import sys\n")
    assert said(changed=True) == [("ruff", "new.py")]


def test_time_that_ran_out_is_told_as_what_did_not_run(tmp_path: Path) -> None:
    files = {
        "calc.py": small.FIXED,
        "tests/test_calc.py": "import time\n\ndef test():\n    time.sleep(60)\n",
    }
    repo = small.build(tmp_path / "repo", files)
    flags = {"budget.timeout": 6.0, "judge.test_seconds": 90.0}
    report = api.check(str(repo), load(str(repo), flags=flags, variables={}, user_file=""))
    assert not report.passed
    assert report.layers[-1].state.value == "not_run"
    assert "--timeout" in report.layers[-1].note and "--timeout" in report.feedback


def test_a_test_that_passes_when_run_again_is_told_and_still_counts(tmp_path: Path) -> None:
    files = {
        "calc.py": small.FIXED,
        "tests/test_calc.py": "a = []\n\ndef test_a():\n    a.append(1)\n\ndef test_alone():\n    assert not a\n",
    }
    repo = small.build(tmp_path / "repo", files)
    notes: list[str] = []
    config = load(str(repo), variables={}, user_file="")
    report = api.check(str(repo), config, lambda event, facts: notes.append(str(facts.get("text", event))))
    assert not report.passed
    assert any("test_alone failed in the suite and passed alone" in note for note in notes)
