"""The contract of committing and merging, held by the git adapter and by the fake alike."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.adapters.git import GitWorkspace
from referee.domain.errors import UsageError
from referee.domain.patch import FileContent, patch_of
from referee.ports import Commit, Workspace
from referee.testing import FakeWorkspace

FILES = {"src/a.py": b"a = 1\n", "src/b.py": b"b = 1\n", "notes": b"n\n"}
CHANGES = {"src/a.py": FileContent(data=b"a = 2\n"), "src/b.py": None, "src/sub/new.py": FileContent(data=b"n\n")}
TOUCHED = ("src/a.py", "src/b.py", "src/sub/new.py")


def in_git(root: Path) -> Workspace:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    subprocess.run(["git", "init", "-q", root], env=clean, check=True)
    for path, data in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    said = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    for command in (
        ("config", "user.name", "a"),
        ("config", "user.email", "a@example.org"),
        ("add", "-A"),
        (*said, "commit", "-qm", "one"),
    ):
        subprocess.run(["git", *command], cwd=root, env=clean, check=True)
    return GitWorkspace(str(root))


def in_memory(_: Path) -> Workspace:
    return FakeWorkspace(FILES)


@pytest.fixture(params=[in_git, in_memory])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    opened = request.param(tmp_path / "r")
    yield opened
    opened.close()


def now(workspace: Workspace) -> dict[str, bytes | None]:
    tree = workspace.snapshot("look").tree
    return {path: workspace.read(tree, path) for path in workspace.paths(tree)}


def test_a_commit_lands_files_moves_head_and_is_remembered(workspace: Workspace) -> None:
    start = workspace.snapshot("run")
    after = workspace.apply(start.tree, patch_of(dict(CHANGES)))
    commit = Commit(parent=start.head, message="Mend it\n")
    landing = workspace.commit("run", start.tree, after, commit)
    assert (landing.how, landing.written, landing.conflicts) == ("commit", TOUCHED, ())
    assert landing.revision == workspace.snapshot("look").head
    assert workspace.snapshot("look").tree == after
    assert workspace.landed("run") == landing
    assert workspace.commit("run", start.tree, after, commit) == landing
    again = workspace.commit("other", after, start.tree, commit)
    assert (again.conflicts, again.revision) == (("HEAD",), None), "the parent is HEAD no more"
    assert set(workspace.rollback("run").restored) == set(TOUCHED)
    assert (now(workspace), workspace.snapshot("look").head) == (FILES, start.head)
    assert workspace.landed("run") is None


def test_a_branch_is_made_beside_and_only_once(workspace: Workspace) -> None:
    start = workspace.snapshot("run")
    after = workspace.apply(start.tree, patch_of(dict(CHANGES)))
    commit = Commit(parent=start.head, message="Mend it\n", branch="fix/it")
    assert workspace.check_place("branch:fix/it") == ()
    landing = workspace.commit("run", start.tree, after, commit)
    assert (landing.how, landing.written) == ("branch:fix/it", ())
    assert (now(workspace), workspace.snapshot("look").head) == (FILES, start.head)
    assert workspace.landed("run") == landing
    with pytest.raises(UsageError, match="already"):
        workspace.check_place("branch:fix/it")
    assert workspace.commit("other", start.tree, after, commit).conflicts == ("refs/heads/fix/it",)
    assert workspace.landed("other") is None
    assert workspace.rollback("run").restored == ()
    assert workspace.check_place("branch:fix/it") == ()


def test_both_sides_changes_are_merged_or_named(workspace: Workspace) -> None:
    base = workspace.snapshot("run").tree
    theirs = workspace.apply(base, patch_of(dict(CHANGES)))
    ours = workspace.apply(base, patch_of({"notes": FileContent(data=b"mine\n"), "mine": FileContent(data=b"")}))
    merged = workspace.merge(base, ours, theirs)
    assert merged.conflicts == ()
    assert workspace.changed(ours, merged.tree) == TOUCHED
    assert workspace.changed(theirs, merged.tree) == ("mine", "notes")
    assert workspace.merge(base, theirs, theirs).tree == theirs
    clash = workspace.apply(
        base, patch_of({"src/a.py": FileContent(data=b"a = 3\n"), "src/b.py": FileContent(data=b"")})
    )
    assert workspace.merge(base, clash, theirs).conflicts == ("src/a.py", "src/b.py")
    added = workspace.apply(base, patch_of({"src/sub/new.py": FileContent(data=b"other\n")}))
    assert workspace.merge(base, added, theirs).conflicts == ("src/sub/new.py",)
