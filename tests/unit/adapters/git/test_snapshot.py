"""What a snapshot holds: raw bytes of what is on disk, nothing of it changed, nothing of it left to chance."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import oracle
import pytest

from referee.domain.errors import UsageError


@pytest.mark.parametrize("commit", [True, False])
def test_every_file_is_in_the_tree_byte_for_byte_and_nothing_is_touched(tmp_path: Path, commit: bool) -> None:
    """Cases A13, A26, A30: attributes, odd names, ignored but tracked, staged, intent to add, no commits."""
    root = oracle.messy(tmp_path / "r", commit=commit)
    before, folder, status = oracle.photograph(root), oracle.git_folder(root / ".git"), oracle.status(root)
    workspace = oracle.workspace(root)
    tree = workspace.snapshot("run").tree
    assert (oracle.photograph(root), oracle.git_folder(root / ".git"), oracle.status(root)) == (before, folder, status)
    left_out = {b".env", b"x.log", b"build/o.bin"}
    there = {p for p, facts in before.items() if facts[0] in ("file", "link")} - left_out
    assert {p.encode("utf-8", "surrogateescape") for p in workspace.paths(tree)} == there
    for path in workspace.paths(tree):
        whole = os.path.join(os.fsencode(root), path.encode("utf-8", "surrogateescape"))
        if os.path.islink(whole):
            assert workspace.read(tree, path) is None
        else:
            assert workspace.read(tree, path) == Path(os.fsdecode(whole)).read_bytes()
            assert workspace.executable(tree, path) == bool(os.stat(whole).st_mode & 0o100)


def test_the_same_files_are_the_same_tree(tmp_path: Path) -> None:
    root = oracle.messy(tmp_path / "r")
    first = oracle.workspace(root)
    tree = first.snapshot("one").tree
    assert first.snapshot("two").tree == tree
    assert oracle.workspace(root).snapshot("three").tree == tree
    oracle.write(root, "src/m5.py", b"changed\n")
    assert first.snapshot("four").tree != tree


def test_a_file_of_the_same_size_written_in_the_same_instant_is_seen(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    workspace = oracle.workspace(root)
    for i in range(20):
        oracle.write(root, "src/a.py", b"x = %02d\n" % i)
        assert workspace.read(workspace.snapshot(f"r{i}").tree, "src/a.py") == b"x = %02d\n" % i


def test_what_disappears_or_becomes_ignored_leaves_the_tree(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    oracle.write(root, "gen/x.py", b"1\n")
    oracle.write(root, "gone.py", b"1\n")
    workspace = oracle.workspace(root)
    assert {"gen/x.py", "gone.py"} <= set(workspace.paths(workspace.snapshot("one").tree))
    oracle.write(root, ".gitignore", b"gen/\n")
    (root / "gone.py").unlink()
    (root / "src/a.py").unlink()
    oracle.write(root, "src/a.py/inside", b"a folder now\n")
    assert set(workspace.paths(workspace.snapshot("two").tree)) == {
        ".gitignore", "run.sh", "src/a.py/inside", "src/b.py", "tests/test_a.py",
    }  # fmt: skip


def test_tracked_files_behind_a_symlink_are_not_there(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    (root / "src").rename(tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", root / "src")
    workspace = oracle.workspace(root)
    assert workspace.paths(workspace.snapshot("run").tree) == ("run.sh", "src", "tests/test_a.py")


def test_special_files_are_never_opened_and_named(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    os.mkfifo(root / "pipe")
    (root / "src/b.py").unlink()
    os.mkfifo(root / "src/b.py")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(root / "socket"))
        workspace = oracle.workspace(root)
        taken = workspace.snapshot("run")
    assert workspace.paths(taken.tree) == ("run.sh", "src/a.py", "tests/test_a.py")
    assert taken.omitted == ("src/b.py: neither a file, a folder nor a symlink",)


def test_untracked_secrets_are_left_out_and_tracked_ones_stay(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    secrets = (".env", ".env.local", "deploy/id_rsa", "tls.PEM", ".aws/config", "home/.ssh/known", "credentials.json")
    for name in secrets:
        oracle.write(root, name, b"hunter2\n")
    for name in ("environment.py", "secretary.py", "ssh/config"):
        oracle.write(root, name, b"fine\n")
    oracle.write(root, "tracked.env", b"committed\n")
    oracle.git(root, "add", "tracked.env")
    workspace = oracle.workspace(root)
    taken = workspace.snapshot("run")
    assert not set(secrets) & set(workspace.paths(taken.tree))
    assert {"environment.py", "secretary.py", "ssh/config", "tracked.env"} <= set(workspace.paths(taken.tree))
    assert len(taken.omitted) == len(secrets)
    stored = b"".join(p.read_bytes() for p in (root / ".harness").rglob("*") if p.is_file())
    assert b"hunter2" not in stored


def test_built_files_that_tests_need_come_along(tmp_path: Path) -> None:
    """Case H3; environments and build folders, ignored as a whole, do not."""
    root = oracle.small(tmp_path / "r")
    oracle.write(root, ".gitignore", b"*.so\n_version.py\n.venv/\n*.bin\n.env\n")
    for name in ("src/_fast.so", "src/_version.py", ".venv/lib/x.so", "big.bin", ".env"):
        oracle.write(root, name, b"built\n")
    workspace = oracle.workspace(root, extra=("*.so", "src/_version.py", ".env"))
    paths = workspace.paths(workspace.snapshot("run").tree)
    assert {"src/_fast.so", "src/_version.py"} <= set(paths)
    assert not {".venv/lib/x.so", "big.bin", ".env"} & set(paths)


def test_huge_untracked_files_are_left_where_they_are(tmp_path: Path) -> None:
    """Case A35."""
    root = oracle.small(tmp_path / "r")
    with open(root / "huge.dat", "wb") as file:
        file.truncate(1 << 30)
    workspace = oracle.workspace(root)
    taken = workspace.snapshot("run")
    assert "huge.dat" not in workspace.paths(taken.tree)
    assert taken.omitted == ("huge.dat: untracked and larger than 64 MiB",)


def test_required_filters_are_not_run(tmp_path: Path) -> None:
    """Case A30: a large-file filter that is required and not installed."""
    root = oracle.small(tmp_path / "r")
    oracle.write(root, ".gitattributes", b"*.big filter=lfs diff=lfs merge=lfs -text\n")
    oracle.git(root, "config", "filter.lfs.required", "true")
    oracle.git(root, "config", "filter.lfs.process", "no-such-program")
    pointer = b"version 1\noid sha256:00\nsize 3\n"
    oracle.write(root, "a.big", pointer)
    workspace = oracle.workspace(root)
    base = workspace.base(workspace.snapshot("run").tree, lambda _: False)
    assert (Path(base.path) / "a.big").read_bytes() == pointer


def test_the_users_gc_cannot_take_what_the_snapshot_holds(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    oracle.write(root, "src/a.py", b"staged\n")
    oracle.git(root, "add", "src/a.py")
    workspace = oracle.workspace(root)
    tree = workspace.snapshot("run").tree
    oracle.git(root, "reset", "-q", "--hard")
    oracle.git(root, "reflog", "expire", "--expire=now", "--all")
    oracle.git(root, "gc", "-q", "--prune=now")
    assert workspace.read(tree, "src/a.py") == b"staged\n"


def test_the_users_polling_never_meets_our_locks(tmp_path: Path) -> None:
    """Cases I6 and I7: the user stages and commits while snapshots are taken."""
    root = oracle.small(tmp_path / "r")
    loop = "for i in 1 2 3 4 5 6 7 8; do echo $i > n$i; git add n$i && git commit -qm $i || exit 9; done"
    user = subprocess.Popen(["sh", "-c", loop], cwd=root, env=oracle.ENVIRONMENT)
    workspace = oracle.workspace(root)
    for i in range(5):
        workspace.snapshot(f"run{i}")
    assert user.wait() == 0


def test_two_processes_share_the_store(tmp_path: Path) -> None:
    """Case A11: a second one that starts and collects takes nothing from the first."""
    root = oracle.small(tmp_path / "r")
    first = oracle.workspace(root)
    before = first.snapshot("first").tree
    after = first.apply(before, oracle.patch({"src/a.py": b"x = 2\n", "src/new.py": b"n\n"}))
    first.land("first", before, after)
    second = oracle.workspace(root)
    second.snapshot("second")
    second.collect()
    second.close()
    assert first.rollback("first").restored == ("src/a.py", "src/new.py")


def test_an_interrupted_snapshot_does_not_stop_the_next(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    workspace = oracle.workspace(root)
    workspace.snapshot("one")
    for name in ("snapshot.index.lock", "store.index.lock", "store.index"):
        (root / ".harness/git" / name).write_bytes(b"torn")
    oracle.write(root, "new.py", b"1\n")
    assert "new.py" in workspace.paths(workspace.snapshot("two").tree)
    (root / ".harness/git/snapshot.index.lock").write_bytes(b"torn")
    oracle.write(root, "src/a.py", b"x = 3\n")
    assert workspace.read(workspace.snapshot("three").tree, "src/a.py") == b"x = 3\n"


def test_a_submodule_that_is_set_up_between_two_snapshots_is_seen(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    oracle.git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    (root / "sub").mkdir()
    workspace = oracle.workspace(root)
    workspace.snapshot("one")
    oracle.git(root / "sub", "init", "-q")
    oracle.write(root, "sub/lib.py", b"1\n")
    oracle.git(root / "sub", "add", "-A")
    oracle.git(root / "sub", "commit", "-qm", "one")
    assert "sub/lib.py" in workspace.paths(workspace.snapshot("two").tree)


def test_the_private_folder_is_private_and_ignores_itself(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    before = oracle.status(root)
    (root / ".harness").mkdir(mode=0o755)
    oracle.workspace(root).snapshot("run")
    assert (root / ".harness").stat().st_mode & 0o777 == 0o700
    assert (root / ".harness/.gitignore").read_bytes() == b"*\n"
    assert oracle.status(root) == before


@pytest.mark.parametrize("run_id", ["", "..", "a/b", ".hidden", "a\n"])
def test_a_run_must_have_a_plain_name(tmp_path: Path, run_id: str) -> None:
    workspace = oracle.workspace(oracle.small(tmp_path / "r"))
    with pytest.raises(UsageError, match="is not a run's name"):
        workspace.snapshot(run_id)
