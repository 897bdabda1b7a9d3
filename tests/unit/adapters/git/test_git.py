"""The git wrapper: nothing a configuration names is run, and git's own failures are said, never swallowed."""

from __future__ import annotations

from pathlib import Path

import oracle
import pytest

from referee.adapters.git.git import ALLOWED, Git
from referee.domain.errors import UsageError, WorldFault


@pytest.mark.parametrize(
    "subcommand", ["clean", "reset", "stash", "checkout", "restore", "switch", "gc", "config", "push"]
)
def test_what_could_change_the_users_tree_is_refused(subcommand: str) -> None:
    with pytest.raises(ValueError, match="may run"):
        Git().run(subcommand, variables={}, cwd=b"/")
    assert subcommand not in ALLOWED


def test_git_variables_of_the_caller_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, other = oracle.small(tmp_path / "r"), oracle.small(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert oracle.workspace(root).root == str(root)


def test_no_identity_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case A7."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    root = oracle.small(tmp_path / "r")
    oracle.write(root, "new.txt", b"new\n")
    workspace = oracle.workspace(root)
    assert workspace.read(workspace.snapshot("run").tree, "new.txt") == b"new\n"


def test_missing_git_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(WorldFault, match="install git"):
        oracle.workspace(tmp_path, git=Git(program=str(tmp_path / "git")))


def test_old_git_says_what_to_install(tmp_path: Path) -> None:
    oracle.write(tmp_path, "git", b"#!/bin/sh\necho git version 2.20.1\n", 0o755)
    with pytest.raises(WorldFault, match=r"git version 2\.20\.1; install git 2\.32 or newer"):
        oracle.workspace(tmp_path, git=Git(program=str(tmp_path / "git")))


def test_a_broken_configuration_of_the_user_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = oracle.small(tmp_path / "r")
    oracle.write(tmp_path, ".gitconfig", b"[core\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"bad config line 1 in file .*\.gitconfig"):
        oracle.workspace(root)


def test_what_git_says_is_passed_on(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    workspace = oracle.workspace(root)
    with pytest.raises(WorldFault, match="0000000"):
        workspace.diff("0" * 40, "0" * 40)
    oracle.write(root, ".git/config", b"[core\n")
    with pytest.raises(UsageError, match="bad config"):
        oracle.workspace(root)
