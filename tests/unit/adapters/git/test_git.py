"""The git wrapper: nothing a configuration names is run, and git's own failures are said, never swallowed."""

from __future__ import annotations

import os
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


POISON = {
    "core.fsmonitor": "touch {marker}",
    "core.hooksPath": "{hooks}",
    "core.pager": "touch {marker}",
    "core.editor": "touch {marker}",
    "core.sshCommand": "touch {marker}",
    "core.askPass": "{hooks}/post-index-change",
    "core.alternateRefsCommand": "touch {marker}",
    "diff.external": "{hooks}/post-index-change",
    "diff.py.textconv": "touch {marker}; cat",
    "diff.py.command": "{hooks}/post-index-change",
    "filter.py.clean": "touch {marker}; cat",
    "filter.py.smudge": "touch {marker}; cat",
    "filter.py.process": "touch {marker}",
    "merge.py.driver": "touch {marker}",
    "credential.helper": "!touch {marker}",
    "gpg.program": "{hooks}/post-index-change",
    "alias.ls-files": "!touch {marker}",
    "alias.rev-parse": "!touch {marker}",
    "uploadpack.packObjectsHook": "{hooks}/post-index-change",
}


@pytest.mark.parametrize("key", POISON)
def test_a_poisoned_configuration_runs_nothing(tmp_path: Path, key: str) -> None:
    """Cases D2 and D3: one key a row, through everything the adapter does."""
    root = oracle.small(tmp_path / "r")
    marker, hooks = tmp_path / "marker", tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "reference-transaction", "pre-commit"):
        oracle.write(hooks, name, b"#!/bin/sh\ntouch %s\n" % os.fsencode(marker), 0o755)
        oracle.write(root / ".git/hooks", name, b"#!/bin/sh\ntouch %s\n" % os.fsencode(marker), 0o755)
    oracle.write(root, ".gitattributes", b"*.py diff=py filter=py merge=py\n")
    for repository in (root, oracle.small(root / "nested")):
        oracle.git(repository, "config", key, POISON[key].format(marker=marker, hooks=hooks))
    workspace = oracle.workspace(root)
    before = workspace.snapshot("run").tree
    after = workspace.apply(before, oracle.patch({"src/a.py": b"x = 2\n"}))
    workspace.diff(before, after)
    workspace.base(after, lambda _: False)
    assert workspace.land("run", before, after).written == ("src/a.py",)
    workspace.rollback("run")
    workspace.collect(0)
    workspace.close()
    assert not marker.exists()


def test_the_poison_would_work(tmp_path: Path) -> None:
    """The control: an ordinary git command does run what the configuration names."""
    root, marker = oracle.small(tmp_path / "r"), tmp_path / "marker"
    oracle.git(root, "config", "core.fsmonitor", f"touch {marker}")
    oracle.git(root, "status", check=False)
    assert marker.exists()


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


def test_what_git_says_is_passed_on(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    workspace = oracle.workspace(root)
    with pytest.raises(WorldFault, match="0000000"):
        workspace.diff("0" * 40, "0" * 40)
    oracle.write(root, ".git/config", b"[core\n")
    with pytest.raises(UsageError, match="bad config"):
        oracle.workspace(root)
