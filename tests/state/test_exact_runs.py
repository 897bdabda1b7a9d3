"""Whole runs, as people start them, over the matrix's repositories and over one full of traps.

One repository by default; REFEREE_MATRIX=full takes all of them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import small
from exact_ground import Ground
from exact_oracle import differences
from exact_settings import SETTINGS, Setting
from git_traps import PLAIN, TRAPS, scene

from referee import api
from referee.config import load
from referee.domain.errors import UsageError
from referee.domain.report import Outcome
from referee.domain.task import Task

SAMPLE = ("filters",)
CHOSEN = [s for s in SETTINGS if os.environ.get("REFEREE_MATRIX") == "full" or s.name in SAMPLE]
UNLIKE_PLAIN = ("merge driver", "lazy fetch", "a git of its own")  # these need a repository of their own


def with_project(setting: Setting) -> Setting:
    """The setting with a small project and its bug among the untracked files."""

    def make(place: bytes) -> bytes:
        root = setting.make(place)
        project(Path(os.fsdecode(root)))
        return root

    return setting._replace(make=make)


def project(root: Path) -> None:
    (root / "tests").mkdir(exist_ok=True)
    (root / "calc.py").write_text(small.BUGGY)
    (root / "tests/test_calc.py").write_text(small.TESTS)


def fix(root: str, model: str, **flags: Any) -> Outcome:
    flags = {"generator": "model", "models.default": model, "budget.max_steps": 2, **flags}
    return api.fix(Task(repo=root, targets=(small.TARGET,)), load(root, flags=flags, variables={}, user_file=""))


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFEREE_MATRIX", raising=False)  # it is not one of referee's


@pytest.mark.slow
@pytest.mark.parametrize("setting", [pytest.param(s, id=s.name) for s in CHOSEN])
def test_runs_leave_everything_as_it_was(tmp_path: Path, setting: Setting) -> None:
    if setting.name == "other owner" and os.geteuid() != 0:
        pytest.skip("only root can give files away")
    (tmp_path / "place").mkdir()
    ground = Ground(os.fsencode(tmp_path / "place"), with_project(setting))
    root = os.fsdecode(ground.root)
    right = small.script(tmp_path / "right", small.proposal())
    wrong = small.script(tmp_path / "wrong", small.content(small.BUGGY.replace("a - b", "a * b")), "no json at all")
    before, said = ground.seen()
    if setting.refuses:
        with pytest.raises(UsageError, match=setting.refuses):
            fix(root, right)
        assert (differences(before, ground.seen()[0]), ground.seen()[1]) == ([], said)
        return
    for kept in (fix(root, wrong), fix(root, right, land="none")):
        assert not kept.solved or kept.report.landed is None
        assert (differences(before, ground.seen()[0]), ground.seen()[1]) == ([], said)
    landed = fix(root, right)
    assert landed.solved
    (calc,) = ground.within([b"calc.py"])
    rest = {p: s for p, s in before.items() if p != calc}
    assert differences(rest, {p: s for p, s in ground.seen()[0].items() if p != calc}) == []
    assert (Path(root) / "calc.py").read_text() == small.FIXED
    assert api.rollback(landed.report.run_id, root).restored == ("calc.py",)
    assert differences(before, ground.seen()[0], touched=frozenset([calc])) == []
    assert ground.seen()[1] == said


@pytest.mark.slow
def test_no_command_springs_any_trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All traps in one repository and one environment; `test_git_traps` shows that each of them works."""
    repo = scene(tmp_path)
    project(repo.root)
    for name, trap in TRAPS.items():
        if name not in UNLIKE_PLAIN:
            trap.plant(repo)
            for variable, value in trap.environment(repo).items():
                monkeypatch.setenv(variable, value)
    monkeypatch.setenv("PATH", f".::{PLAIN['PATH']}")
    repo.mark.unlink(missing_ok=True)
    root, run = str(repo.root), small.script(tmp_path / "right", small.proposal())
    landed = fix(root, run)
    assert landed.solved
    assert api.rollback(landed.report.run_id, root).restored == ("calc.py",)
    api.check(root)
    api.gc(root, 0)
    assert api.show(landed.report.run_id, root).solved
    assert not repo.sprung
