"""The repository that commands see: whole, new, and without anything of the user's history."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import oracle


def base(root: Path, run: str) -> Path:
    """The files of a base of the repository as it is."""
    workspace = oracle.workspace(root)
    path = Path(workspace.base(workspace.snapshot(run).tree, lambda _: False).path)
    workspace.close()
    return path


def copied(files: Path, place: Path) -> Path:
    """As a command sees it: the same contents and times, other inodes."""
    shutil.copytree(files, place, symlinks=True)
    return place


def test_it_is_clean_complete_and_has_one_commit(tmp_path: Path) -> None:
    root = oracle.messy(tmp_path / "r")
    seen = copied(base(root, "run"), tmp_path / "seen")
    assert oracle.status(seen).startswith(b"# branch.oid ")
    assert [f for f in oracle.status(seen).split(b"\0") if not f.startswith(b"#")] == [b""]
    assert oracle.git(seen, "rev-list", "--count", "--all") == b"1\n"
    oracle.git(seen, "fsck", "--full")
    (seen / "src/m1.py").write_bytes(b"changed\n")
    assert b"-x = 1\n+changed\n" in oracle.git(seen, "diff")
    oracle.git(seen, "commit", "-qam", "two")
    assert oracle.git(seen, "rev-list", "--count", "HEAD") == b"2\n"


def test_nothing_of_the_users_history_is_in_it(tmp_path: Path) -> None:
    """Not even a secret that was committed and removed again."""
    root = oracle.small(tmp_path / "r")
    oracle.write(root, "old.txt", b"hunter2\n")
    oracle.git(root, "add", "-A")
    oracle.git(root, "commit", "-qm", "a message of the user's")
    gone = oracle.git(root, "rev-parse", "HEAD:old.txt").decode().strip()
    oracle.git(root, "rm", "-q", "old.txt")
    oracle.git(root, "commit", "-qm", "gone")
    oracle.git(root, "remote", "add", "origin", "https://user:token@example.org/x.git")
    seen = base(root, "run")
    assert not oracle.git(seen, "cat-file", "-t", gone, check=False)
    assert not (seen / ".git/objects/info/alternates").exists()
    assert oracle.git(seen, "remote") == b""
    assert oracle.git(seen, "log", "--format=%an %s") == b"referee Snapshot of the repository\n"


def test_a_tag_at_the_users_head_names_the_version(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    oracle.git(root, "tag", "v1.0")
    oracle.write(root, "src/a.py", b"x = 2\n")
    oracle.git(root, "commit", "-qam", "two")
    oracle.git(root, "tag", "-a", "-m", "release", "v1.2/with-slash")
    assert oracle.git(base(root, "run"), "describe", "--tags") == b"v1.2/with-slash\n"


def test_it_moves_forward_with_its_base(tmp_path: Path) -> None:
    root = oracle.messy(tmp_path / "r")
    for turn in range(3):
        oracle.write(root, "src/m1.py", b"turn %d\n" % turn)
        (root / f"src/m{turn + 3}.py").unlink()
        seen = copied(base(root, f"run{turn}"), tmp_path / f"seen{turn}")
        assert [f for f in oracle.status(seen).split(b"\0") if not f.startswith(b"#")] == [b""]
        assert oracle.git(seen, "rev-list", "--count", "--all") == b"1\n"
        oracle.git(seen, "fsck", "--full")
    assert len(os.listdir(root / ".harness/base")) == 1


def test_a_linked_worktree_and_a_repository_without_commits_have_one_too(tmp_path: Path) -> None:
    """Case D17: their own `.git` is a file, or names a HEAD that is not there."""
    root = oracle.small(tmp_path / "r")
    oracle.git(root, "worktree", "add", "-q", str(tmp_path / "linked"))
    fresh = oracle.messy(tmp_path / "fresh", commit=False)
    for place in (tmp_path / "linked", fresh):
        seen = copied(base(place, "run"), tmp_path / f"seen-{place.name}")
        assert (seen / ".git").is_dir()
        assert oracle.git(seen, "rev-list", "--count", "--all") == b"1\n"
        oracle.git(seen, "fsck", "--full")
