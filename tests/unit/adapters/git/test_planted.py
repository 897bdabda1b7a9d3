"""A repository that brings a `.harness` of its own: nothing in it is believed, run or followed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import oracle
import pytest

from referee.adapters.git.stage import Step
from referee.adapters.git.transaction import Intent
from referee.domain.errors import UsageError, WorldFault


def _ours(root: Path) -> Path:
    """The private git folder as an earlier run left it."""
    oracle.workspace(root).snapshot("earlier")
    shutil.rmtree(root / ".harness/base", ignore_errors=True)
    return root / ".harness/git"


def test_a_folder_of_records_that_was_committed_is_refused(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    oracle.write(root, ".harness/state.db", b"x")
    oracle.git(root, "add", "-A", "-f")
    with pytest.raises(UsageError, match=r"git rm -r -q --cached \.harness"):
        oracle.workspace(root)


@pytest.mark.parametrize("guarded", [True, False])
def test_a_planted_filter_is_never_run(tmp_path: Path, guarded: bool) -> None:
    """Cases D2, D3: git would run what a configuration names; the control runs the same filter by itself."""
    root, mark = oracle.small(tmp_path / "r"), tmp_path / "ran"
    git = _ours(root)
    (git / "config").write_text(
        f'[core]\n\tbare = false\n[filter "e"]\n\tsmudge = "touch {mark}; cat"\n\tclean = "touch {mark}; cat"\n'
    )
    (git / "info/attributes").write_text("* filter=e\n")
    if guarded:
        workspace = oracle.workspace(root)
        workspace.base(workspace.snapshot("run").tree, lambda path: False)
        workspace.close()
    else:
        (tmp_path / "x.py").write_text("1\n")
        oracle.git(tmp_path, f"--git-dir={git}", f"--work-tree={tmp_path}", "add", "x.py")
    assert mark.exists() is not guarded


@pytest.mark.parametrize("name", ["git", "base", "snapshots", "state.db", "git/objects", "git/info", "landing"])
def test_a_link_in_the_private_folder_is_not_followed(tmp_path: Path, name: str) -> None:
    root, outside = oracle.small(tmp_path / "r"), tmp_path / "outside"
    outside.mkdir()
    (root / ".harness" / name).parent.mkdir(parents=True, exist_ok=True)
    os.symlink(outside, root / ".harness" / name)
    with pytest.raises(UsageError, match=r"delete the folder \.harness"):
        oracle.workspace(root)
    assert not list(outside.iterdir())


@pytest.mark.parametrize("name", ["commondir", "config.worktree", "objects/info/alternates"])
def test_git_is_not_sent_elsewhere(tmp_path: Path, name: str) -> None:
    root = oracle.small(tmp_path / "r")
    file = _ours(root) / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(str(tmp_path))
    with pytest.raises(UsageError, match=r"leads elsewhere"):
        oracle.workspace(root)


@pytest.mark.parametrize("path", [b"../out.py", b".git/hooks/pre-commit", b"/etc/x", b".harness/git/config"])
def test_a_planted_landing_writes_nothing(tmp_path: Path, path: bytes) -> None:
    """An interrupted landing is finished by the next run: its record may only name files of the work tree."""
    root = oracle.small(tmp_path / "r")
    workspace = oracle.workspace(root)
    step = Step.model_construct(path=path, expect=None, want=None, permissions=None)
    landing = root / ".harness/landing"
    landing.mkdir()
    intent = Intent.model_construct(kind="land", run_id="r", steps=(step,), made=(), prune=())
    (landing / "intent").write_text(intent.model_dump_json())
    with pytest.raises(WorldFault, match="damaged"):
        workspace.snapshot("run")
