"""Applying a patch to a tree, and the patch between two trees."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import oracle
import pytest

from referee.domain.errors import Rejected, WorldFault
from referee.domain.finding import FindingKind
from referee.domain.patch import FileContent, patch_of

UNFIT = {
    "missing": ({"src/nothing.py": None}, "does not exist"),
    "folder": ({"src": b"x"}, "is a folder"),
    "folder deleted": ({"src": None}, "is a folder"),
    "through a file": ({"src/a.py/b.py": b"x"}, r"src/a\.py is not a folder"),
    "through a link": ({"dirlink/a.py": b"x"}, "dirlink is not a folder"),
    "link": ({"link": b"x"}, "is a symlink"),
    "link deleted": ({"link": None}, "is a symlink"),
    "inside a new file": ({"new": b"x", "new/deep/b": b"y"}, "a file that the same patch makes"),
    "climbing": ({"../x": b"x"}, "not a plain path"),
    "absolute": ({"/etc/x": b"x"}, "not a plain path"),
    "empty": ({"": b"x"}, "not a plain path"),
    "doubled": ({"src//x": b"x"}, "not a plain path"),
    "git": ({"sub/.Git/config": b"x"}, r"inside a \.git folder"),
    "harness": ({".harness/state.db": b"x"}, r"inside \.harness"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = oracle.small(tmp_path / "r")
    os.symlink("src", root / "dirlink")
    os.symlink("src/a.py", root / "link")
    return root


@pytest.mark.parametrize("case", UNFIT)
def test_what_does_not_fit_is_a_finding_and_nothing_is_stored(root: Path, case: str) -> None:
    changes, says = UNFIT[case]
    workspace = oracle.workspace(root)
    tree = workspace.snapshot("run").tree
    before = oracle.photograph(root)
    with pytest.raises(Rejected, match=says) as caught:
        workspace.apply(tree, oracle.patch({**changes, "good.py": b"good\n"}))
    assert {(f.kind, f.path) for f in caught.value.findings} <= {(FindingKind.UNAPPLIABLE, p) for p in changes}
    assert oracle.photograph(root) == before


def test_every_objection_is_told_at_once(root: Path) -> None:
    workspace = oracle.workspace(root)
    with pytest.raises(Rejected) as caught:
        workspace.apply(workspace.snapshot("run").tree, oracle.patch({"src": b"", "link": b"", "no.py": None}))
    assert [f.path for f in caught.value.findings] == ["link", "no.py", "src"]


def test_a_tree_is_what_git_would_make(root: Path, tmp_path: Path) -> None:
    """Names that sort differently as files and folders, a folder emptied, executability, odd names."""
    workspace = oracle.workspace(root)
    tree = workspace.snapshot("run").tree
    changes = {
        "a-b": FileContent(data=b"1\n"), "a/b": FileContent(data=b"2\n"), "a.b": FileContent(data=b"3\n"),
        "a0": FileContent(data=b"4\n", executable=True), "tests/test_a.py": None, "run.sh": FileContent(data=b"5\n"),
        "odd/\udce9\n": FileContent(data=b"6"), "src/a.py": FileContent(data=b"\0\xff\r\n"), "e": FileContent(data=b""),
    }  # fmt: skip
    after = workspace.apply(tree, patch_of(changes))
    base = Path(workspace.base(after, lambda _: False).path)
    index = {**oracle.ENVIRONMENT, "GIT_INDEX_FILE": str(tmp_path / "index"), "GIT_WORK_TREE": str(base)}
    for command in ("add -A -f .", "write-tree"):
        said = subprocess.run(
            ["git", f"--git-dir={root}/.git", *command.split()], cwd=base, env=index, capture_output=True, check=True
        )
    assert said.stdout.decode().strip() == after
    assert workspace.executable(after, "a0")
    assert not workspace.executable(after, "run.sh")
    assert workspace.apply(tree, patch_of({})) == tree


def test_the_patch_between_trees_applies(root: Path, tmp_path: Path) -> None:
    workspace = oracle.workspace(root)
    tree = workspace.snapshot("run").tree
    changes = {
        "src/a.py": FileContent(data=b"x = 1\r\nno newline"), "src/b.py": None, "bin": FileContent(data=b"\0\xff"),
        "run.sh": FileContent(data=b"#!/bin/sh\n"), "na\tme \"q\".py": FileContent(data=b"1\n", executable=True),
        "\udcff.txt": FileContent(data=b"a\n"), "empty": FileContent(data=b""),
    }  # fmt: skip
    after = workspace.apply(tree, patch_of(changes))
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", workspace.base(tree, lambda _: False).path, copy], check=True)
    oracle.git(copy, "apply", "--whitespace=nowarn", "-", stdin=workspace.diff(tree, after))
    other = oracle.workspace(root)
    wanted = oracle.photograph(Path(other.base(after, lambda _: False).path), times=False)
    assert oracle.photograph(copy, times=False) == wanted
    assert workspace.diff(tree, tree) == b""


def test_a_torn_object_is_healed_and_never_trusted(root: Path) -> None:
    """Case I13."""
    workspace = oracle.workspace(root)
    tree = workspace.snapshot("run").tree
    change = oracle.patch({"src/a.py": b"fresh content\n"})
    after = workspace.apply(tree, change)
    oid = oracle.git(root, "hash-object", "--stdin", stdin=b"fresh content\n").decode().strip()
    stored = root / ".harness/git/objects" / oid[:2] / oid[2:]
    stored.chmod(0o644)
    stored.write_bytes(b"")
    with pytest.raises(WorldFault):
        oracle.workspace(root).read(after, "src/a.py")
    assert oracle.workspace(root).apply(tree, change) == after
    assert oracle.workspace(root).read(after, "src/a.py") == b"fresh content\n"


def test_reading_goes_on_after_an_object_was_missing(root: Path) -> None:
    workspace = oracle.workspace(root)
    tree = workspace.snapshot("run").tree
    with pytest.raises(WorldFault, match="missing"):
        workspace.read("1" * 40, "src/a.py")
    assert workspace.read(tree, "src/a.py") == b"x = 1\n"
    assert workspace.read(tree, "src") is None
    assert workspace.read(tree, "src/a.py/x") is None
    assert workspace.read(tree, "nothing/here") is None
    assert not workspace.executable(tree, "nothing/here")
