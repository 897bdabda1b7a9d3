"""Bases: complete, raw, readable, moved forward by difference, safe to share and to delete."""

from __future__ import annotations

import os
from pathlib import Path

import oracle
import pytest

from referee.adapters.git.base import collapse
from referee.adapters.git.root import FOLDER, remove


def contents(folder: Path) -> dict[bytes, tuple[object, ...]]:
    """Kind, executability and bytes of all files."""
    return {
        path: facts if facts[0] == "link" else (facts[0], facts[1], *facts[3:4])
        for path, facts in oracle.photograph(folder, times=False).items()
        if facts[0] != "other"
    }


@pytest.mark.parametrize("name", ["plain", "with space", 'colon:quote"back\\slash', "ünï"])
def test_a_base_equals_the_tree_on_disk(tmp_path: Path, name: str) -> None:
    """Raw bytes whatever the attributes say, modes 0644 and 0755, symlinks kept; any name of the folder works."""
    root = oracle.messy(tmp_path / name)
    workspace = oracle.workspace(root)
    tree = workspace.snapshot("run").tree
    base = workspace.base(tree, lambda path: path.startswith("src/"))
    assert (base.tree, base.mount_at, base.protected) == (tree, str(root), ("src",))
    wanted = {
        path: facts if facts[0] == "link" else ("file", 0o755 if facts[1] == 0o755 else 0o644, *facts[2:])
        for path, facts in contents(root).items()
        if path not in (b".env", b"x.log", b"build/o.bin")
    }
    assert contents(Path(base.path)) == wanted


def test_a_newer_tree_moves_an_idle_base_forward(tmp_path: Path) -> None:
    root = oracle.messy(tmp_path / "r")
    first = oracle.workspace(root)
    old = first.snapshot("one").tree
    inode = (Path(first.base(old, lambda _: False).path) / "src/m1.py").stat().st_ino
    first.close()
    second = oracle.workspace(root)
    new = second.apply(old, oracle.patch({"src/m2.py": b"new\n", "src/m3.py": None, "deep/er/x.py": b"x\n"}))
    base = Path(second.base(new, lambda _: False).path)
    assert (base / "src/m1.py").stat().st_ino == inode
    assert (base / "src/m2.py").read_bytes() == b"new\n"
    assert not (base / "src/m3.py").exists()
    assert (base / "deep/er/x.py").read_bytes() == b"x\n"
    assert os.listdir(root / ".harness/base") == [base.parent.name]


def test_a_base_in_use_is_not_moved(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    one, two = oracle.workspace(root), oracle.workspace(root)
    old = one.snapshot("one").tree
    held = Path(one.base(old, lambda _: False).path)
    new = two.apply(old, oracle.patch({"src/a.py": b"new\n"}))
    fresh = Path(two.base(new, lambda _: False).path)
    two.collect(0)
    assert (held / "src/a.py").read_bytes() == b"x = 1\n"
    assert (fresh / "src/a.py").read_bytes() == b"new\n"
    assert Path(two.base(old, lambda _: False).path) == held


@pytest.mark.parametrize("damage", ["edit", "delete", "add", "half"])
def test_a_damaged_base_is_built_anew(tmp_path: Path, damage: str) -> None:
    """Case I13: a name is no proof; what a crash or a person left is checked."""
    root = oracle.small(tmp_path / "r")
    first = oracle.workspace(root)
    tree = first.snapshot("one").tree
    base = Path(first.base(tree, lambda _: False).path)
    first.close()
    match damage:
        case "edit":
            (base / "src/a.py").write_bytes(b"x = 9\n")
        case "delete":
            (base / "src/a.py").unlink()
        case "add":
            (base / "src/extra.py").touch()
        case _:
            (base.parent / "index").unlink()
    again = Path(oracle.workspace(root).base(tree, lambda _: False).path)
    assert (again / "src/a.py").read_bytes() == b"x = 1\n"
    assert not (again / "src/extra.py").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_belong_to_the_sandboxes_user(tmp_path: Path) -> None:
    root = oracle.messy(tmp_path / "r")
    for run in ("one", "two"):
        oracle.write(root, f"{run}/new.py", b"1\n")
        workspace = oracle.workspace(root, owner=(12345, 12346))
        base = Path(workspace.base(workspace.snapshot(run).tree, lambda _: False).path)
        assert {(p.lstat().st_uid, p.lstat().st_gid) for p in (base, *base.rglob("*"))} == {(12345, 12346)}
        workspace.close()
    workspace = oracle.workspace(root)
    other = Path(workspace.base(workspace.snapshot("three").tree, lambda _: False).path)
    assert other.stat().st_uid == 0


def test_only_bases_in_use_outlive_a_collection(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    holders = [oracle.workspace(root) for _ in range(7)]
    tree = holders[0].snapshot("run").tree
    for i, holder in enumerate(holders):
        holder.base(holder.apply(tree, oracle.patch({"src/a.py": b"%d\n" % i})), lambda _: False)
    for holder in holders[:-1]:
        holder.close()
    holders[-1].collect()
    assert len(os.listdir(root / ".harness/base")) == 1


def test_a_base_is_made_after_the_objects_of_the_last_one_were_collected(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    first = oracle.workspace(root)
    tree = first.apply(first.snapshot("one").tree, oracle.patch({"src/a.py": b"tried\n"}))
    first.base(tree, lambda _: False)
    first.close()
    for folder, _, names in os.walk(root / ".harness"):
        for name in (".", *names):
            os.utime(os.path.join(folder, name), (1, 1))
    second = oracle.workspace(root)
    assert second.collect(days=1) == ("one",)
    again = second.snapshot("two").tree
    assert (Path(second.base(again, lambda _: False).path) / "src/a.py").read_bytes() == b"x = 1\n"


def test_deleting_never_follows_a_link(tmp_path: Path) -> None:
    """Case D10: a link to a file, to a folder, to the parent."""
    precious = tmp_path / "precious"
    oracle.write(precious, "data/file", b"mine\n")
    doomed = tmp_path / "doomed/deep/er"
    doomed.mkdir(parents=True)
    for name, target in (
        ("file", precious / "data/file"),
        ("folder", precious),
        ("parent", tmp_path),
        ("loop", doomed),
    ):
        os.symlink(target, doomed / name)
    fd = os.open(tmp_path, FOLDER)
    try:
        remove(fd, b"doomed")
    finally:
        os.close(fd)
    assert os.listdir(tmp_path) == ["precious"]
    assert (precious / "data/file").read_bytes() == b"mine\n"


def test_whole_folders_stand_for_their_files() -> None:
    files = [
        (p, "100644")
        for p in (b"a.py", b"conftest.py", b"pkg/m.py", b"pkg/tests/d/x.py", b"pkg/tests/y.py", b"tests/z")
    ]
    files += [(b"tests/link", "120000"), (b"test_link.py", "120000")]
    protected = collapse(files, lambda p: "test" in p)
    assert protected == ("conftest.py", "pkg/tests", "tests")
    assert collapse(files, lambda _: True) == ("a.py", "conftest.py", "pkg", "tests")
    assert collapse(files, lambda _: False) == ()


def test_a_folder_with_a_package_keeps_room_for_what_is_installed_there() -> None:
    files = [(b"web/package.json", "100644"), (b"web/a.test.js", "100644"), (b"web/deep/b.test.js", "100644")]
    assert collapse(files, lambda p: p.endswith(".json") or ".test." in p) == (
        "web/a.test.js",
        "web/deep",
        "web/package.json",
    )
    assert collapse(files, lambda _: True) == ("web",)
