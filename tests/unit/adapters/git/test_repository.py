"""Which repositories work, and which are refused in one sentence before anything is touched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import oracle
import pytest

from referee.adapters.git import GitWorkspace
from referee.domain.errors import UsageError
from referee.ports import Snapshot


def snapshot(root: Path) -> None:
    oracle.workspace(root).snapshot("run")


def plain(root: Path) -> None:
    root.mkdir()


def bare(root: Path) -> None:
    root.mkdir()
    oracle.git(root, "init", "-q", "--bare")


def file(root: Path) -> None:
    root.write_text("x")


@pytest.mark.parametrize(
    ("make", "says"),
    [(plain, "git init"), (bare, "bare repository"), (file, "not a folder"), (lambda _: None, "not a folder")],
)
def test_what_is_no_work_tree_is_refused(tmp_path: Path, make: Callable[[Path], None], says: str) -> None:
    make(tmp_path / "r")
    with pytest.raises(UsageError, match=says):
        snapshot(tmp_path / "r")


def test_the_git_folder_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"inside a \.git folder"):
        snapshot(oracle.small(tmp_path / "r") / ".git")


def test_a_folder_inside_stands_for_the_repository(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    os.symlink("r/src", tmp_path / "link")
    assert oracle.workspace(root / "src").root == str(root)
    assert oracle.workspace(tmp_path / "link").root == str(root)


def conflict(root: Path) -> None:
    main = oracle.git(root, "symbolic-ref", "--short", "HEAD").strip()
    oracle.git(root, "checkout", "-qb", "other")
    oracle.write(root, "src/a.py", b"other\n")
    oracle.git(root, "commit", "-qam", "other")
    oracle.git(root, "checkout", "-q", main)
    oracle.write(root, "src/a.py", b"main\n")
    oracle.git(root, "commit", "-qam", "main")


@pytest.mark.parametrize("operation", ["merge", "rebase", "cherry-pick", "revert"])
def test_an_unfinished_operation_is_refused_and_left_alone(tmp_path: Path, operation: str) -> None:
    root = oracle.small(tmp_path / "r")
    conflict(root)
    oracle.git(root, operation, "HEAD~1" if operation == "revert" else "other", check=False)
    before, status = oracle.photograph(root), oracle.status(root)
    with pytest.raises(UsageError, match=rf"git {operation} --continue, or git {operation} --abort"):
        snapshot(root)
    assert (oracle.photograph(root), oracle.status(root)) == (before, status)


def test_unmerged_files_are_refused_by_name(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    conflict(root)
    oracle.git(root, "merge", "other", check=False)
    (root / ".git/MERGE_HEAD").unlink()
    with pytest.raises(UsageError, match=r"src/a\.py has unresolved merge conflicts"):
        snapshot(root)


@pytest.mark.slow
def test_a_lock_that_stays_is_refused(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    (root / ".git/index.lock").touch()
    with pytest.raises(UsageError, match="another git command is running"):
        snapshot(root)
    (root / ".git/index.lock").unlink()
    snapshot(root)


@pytest.mark.parametrize("state", ["empty", "staged", "detached", "orphan"])
def test_head_may_be_anything(tmp_path: Path, state: str) -> None:
    """Cases A26 and A27: no commit, all staged, detached, an orphan branch."""
    root = tmp_path / "r"
    if state in ("empty", "staged"):
        root.mkdir()
        oracle.git(root, "init", "-q")
    else:
        oracle.small(root)
        oracle.git(root, "checkout", "-q", "--detach" if state == "detached" else "--orphan=fresh")
    oracle.write(root, "new.py", b"1\n")
    if state == "staged":
        oracle.git(root, "add", ".")
    workspace = oracle.workspace(root)
    taken = workspace.snapshot("run")
    assert "new.py" in workspace.paths(taken.tree)
    assert bool(taken.head) is (state == "detached")
    after = workspace.apply(taken.tree, oracle.patch({"new.py": b"2\n"}))
    assert workspace.land("run", taken.tree, after).written == ("new.py",)
    assert workspace.rollback("run").restored == ("new.py",)
    assert (root / "new.py").read_bytes() == b"1\n"


def test_nothing_at_all_is_a_tree_too(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    oracle.git(tmp_path / "r", "init", "-q")
    workspace = oracle.workspace(tmp_path / "r")
    taken = workspace.snapshot("run")
    assert workspace.paths(taken.tree) == ()
    after = workspace.apply(taken.tree, oracle.patch({"a/b.py": b"1\n"}))
    assert workspace.land("run", taken.tree, after).written == ("a/b.py",)
    workspace.rollback("run")
    assert oracle.photograph(tmp_path / "r") == {}


def test_linked_worktrees_work(tmp_path: Path) -> None:
    """Case D17: `.git` is a file that points elsewhere."""
    root = oracle.small(tmp_path / "r")
    oracle.git(root, "worktree", "add", "-q", "../linked")
    before = oracle.git_folder(root / ".git")
    round_trip(tmp_path / "linked")
    assert oracle.git_folder(root / ".git") == before


def test_shallow_clones_work(tmp_path: Path) -> None:
    """Cases A39 and A42."""
    origin = oracle.small(tmp_path / "origin")
    conflict(origin)
    oracle.git(tmp_path, "clone", "-q", "--depth", "1", f"file://{origin}", "r")
    round_trip(tmp_path / "r")


def test_a_clone_made_partial_during_the_run_can_still_be_rolled_back(tmp_path: Path) -> None:
    """Case A38."""
    origin = oracle.small(tmp_path / "origin")
    oracle.git(origin, "config", "uploadpack.allowFilter", "true")
    conflict(origin)
    oracle.git(tmp_path, "clone", "-q", f"file://{origin}", "r")
    root = tmp_path / "r"
    workspace, taken, after = landed(root)
    oracle.git(root, "fetch", "-q", "--depth", "1", "--filter=blob:none")
    oracle.git(root, "reflog", "expire", "--expire=now", "--all")
    oracle.git(root, "gc", "-q", "--prune=now")
    assert workspace.rollback("run").restored == ("src/a.py",)
    assert workspace.read(after, "src/b.py") == b"y = 2\n"
    assert taken.tree


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
def test_sparse_checkouts_work_on_what_is_there(tmp_path: Path, cone: str) -> None:
    root = oracle.small(tmp_path / "r")
    oracle.git(root, "sparse-checkout", "set", cone, "src" if cone == "--cone" else "/src/")
    before = oracle.photograph(root), oracle.status(root)
    workspace = round_trip(root)
    assert "tests/test_a.py" not in workspace.paths(workspace.snapshot("again").tree)
    assert (oracle.photograph(root, times=False).keys(), oracle.status(root)) == (before[0].keys(), before[1])


def test_sha256_repositories_work(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    oracle.git(tmp_path / "r", "init", "-q", "--object-format=sha256")
    oracle.write(tmp_path / "r", "src/a.py", b"x = 1\n")
    assert len(round_trip(tmp_path / "r").snapshot("again").tree) == 64


def test_nested_repositories_are_seen_and_left_alone(tmp_path: Path) -> None:
    """Case A17: a submodule, a repository without commits, one inside another; none is changed."""
    root, library = oracle.small(tmp_path / "r"), oracle.small(tmp_path / "library")
    oracle.git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "vendor/lib")
    oracle.git(root, "commit", "-qm", "submodule")
    inner = root / "plain"
    inner.mkdir()
    oracle.git(inner, "init", "-q")
    oracle.write(inner, "deep/f.py", b"f\n")
    shutil.copytree(library, inner / "second")
    before = [oracle.git_folder(p) for p in (root / ".git", inner / ".git", inner / "second/.git")]
    workspace = oracle.workspace(root)
    taken = workspace.snapshot("run")
    assert {"vendor/lib/src/a.py", "plain/deep/f.py", "plain/second/src/b.py"} <= set(workspace.paths(taken.tree))
    for path in ("vendor/lib/src/a.py", "plain/second/new.py"):
        with pytest.raises(Exception, match=f"{path} is inside the nested repository"):
            workspace.apply(taken.tree, oracle.patch({path: b"x\n"}))
    assert [oracle.git_folder(p) for p in (root / ".git", inner / ".git", inner / "second/.git")] == before


def test_a_broken_nested_repository_is_refused_by_name(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    oracle.write(root, "sub/.git", b"gitdir: /nowhere\n")
    oracle.git(root, "update-index", "--add", "--cacheinfo", "160000," + "1" * 40 + ",sub")
    with pytest.raises(UsageError, match=r"nested repository sub cannot be read.*\.gitignore"):
        snapshot(root)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_somebody_elses_repository_works_for_root(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    for path in (root, *root.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    workspace, *_ = landed(root)
    assert (root / "src/a.py").stat().st_uid == 12345
    workspace.rollback("run")
    assert (root / "src/a.py").stat().st_uid == 12345


def test_an_ignore_file_git_cannot_read_stops_the_run(tmp_path: Path) -> None:
    """Case A10: what is ignored is unknown, so nothing is done."""
    root = oracle.small(tmp_path / "r")
    os.symlink("elsewhere", root / ".gitignore")
    with pytest.raises(UsageError, match=r"cannot list the files.*\.gitignore"):
        snapshot(root)


def test_a_file_in_place_of_the_private_folder_is_refused(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    os.symlink("/tmp", root / ".harness")
    with pytest.raises(UsageError, match=r"\.harness is not a folder"):
        snapshot(root)


def test_a_replaced_folder_is_noticed(tmp_path: Path) -> None:
    """Case A43: moved and made anew, and a symlink that points elsewhere by now."""
    root, other = oracle.small(tmp_path / "r"), oracle.small(tmp_path / "other")
    os.symlink("r", tmp_path / "link")
    direct, linked = oracle.workspace(root), oracle.workspace(tmp_path / "link")
    taken = direct.snapshot("run")
    linked.snapshot("linked")
    (tmp_path / "link").unlink()
    os.symlink("other", tmp_path / "link")
    root.rename(tmp_path / "moved")
    shutil.copytree(other, root)
    for act in (
        lambda: direct.snapshot("again"),
        lambda: direct.apply(taken.tree, oracle.patch({"src/a.py": b""})),
        lambda: direct.land("run", taken.tree, taken.tree),
        lambda: direct.rollback("run"),
        lambda: direct.base(taken.tree, lambda _: False),
        lambda: linked.snapshot("again"),
    ):
        with pytest.raises(UsageError, match="moved or replaced"):
            act()


def landed(root: Path) -> tuple[GitWorkspace, Snapshot, str]:
    workspace = oracle.workspace(root)
    taken = workspace.snapshot("run")
    after = workspace.apply(taken.tree, oracle.patch({"src/a.py": b"changed\n"}))
    assert workspace.land("run", taken.tree, after).written == ("src/a.py",)
    return workspace, taken, after


def round_trip(root: Path) -> GitWorkspace:
    before, status = oracle.photograph(root, times=False), oracle.status(root)
    workspace, _, _ = landed(root)
    assert workspace.rollback("run").restored == ("src/a.py",)
    assert oracle.photograph(root, times=False) == before
    assert oracle.status(root) == status
    return workspace
