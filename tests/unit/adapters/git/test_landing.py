"""Landing: all or nothing, compare and swap, attributes kept, nothing outside reached."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import oracle
import pytest

from referee.adapters.git import GitWorkspace
from referee.adapters.git import stage as staging
from referee.adapters.git.rename import Atomic, Place, Plain, renames_for
from referee.domain.errors import UsageError, WorldFault
from referee.domain.patch import FileContent, patch_of

CHANGES: dict[str, bytes | None] = {
    "src/m1.py": b"new 1\n",
    "src/m2.py": b"new 2\n",
    "src/m3.py": None,
    "private.cfg": b"new\n",
    "crlf.txt": b"x\r\ny\n",
    "f.up": b"Lower\n",
    "forced.log": b"new\n",
    "odd/new\nline.py": b"new\n",
    "odd/latin\udce9.py": b"new\n",
    "deep/er/still/new.py": b"new\n",
    "notes": None,
}


@pytest.fixture(params=["atomic", "plain"])
def _renames(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also as on a file system without renameat2."""
    if request.param == "plain":
        monkeypatch.setattr(staging, "renames_for", lambda _, point: Plain(point))


def prepared(root: Path, changes: dict[str, bytes | None]) -> tuple[GitWorkspace, str, str]:
    workspace = oracle.workspace(root)
    before = workspace.snapshot("run").tree
    return workspace, before, workspace.apply(before, oracle.patch(changes))


@pytest.mark.usefixtures("_renames")
@pytest.mark.parametrize("commit", [True, False])
def test_landing_changes_what_it_must_and_rolling_back_undoes_exactly_that(tmp_path: Path, commit: bool) -> None:
    """Cases A21, A22, A29 to A31: created files and folders go, modes come back, the index never moves."""
    root = oracle.messy(tmp_path / "r", commit=commit)
    before, folder, status = oracle.photograph(root), oracle.git_folder(root / ".git"), oracle.status(root)
    workspace, old, new = prepared(root, CHANGES)
    landing = workspace.land("run", old, new)
    assert set(landing.written) == set(CHANGES)
    after = oracle.photograph(root)
    touched = {p.encode("utf-8", "surrogateescape") for p in CHANGES} | {b"deep", b"deep/er", b"deep/er/still"}
    assert {p: f for p, f in after.items() if p not in touched} == {p: f for p, f in before.items() if p not in touched}
    assert oracle.git_folder(root / ".git") == folder
    assert after[b"private.cfg"][1] == 0o600
    assert workspace.landed("run") == landing
    assert workspace.land("run", old, new) == landing
    assert set(workspace.rollback("run").restored) == set(CHANGES)
    assert workspace.landed("run") is None
    assert oracle.git_folder(root / ".git") == folder
    assert oracle.photograph(root, times=False) == {p: (*f[:-1], 0) if f[0] == "file" else f for p, f in before.items()}
    assert oracle.status(root) == status
    assert not list((root / ".harness").glob("trash*")) + list((root / ".harness").glob("landing/*"))


@pytest.mark.parametrize("edit", ["content", "mode", "gone", "link", "folder", "created", "pipe", "parent link"])
def test_any_edit_of_the_users_is_a_conflict_and_nothing_is_written(tmp_path: Path, edit: str) -> None:
    """Case C3; the user's file always stays."""
    root = oracle.small(tmp_path / "r")
    workspace, before, after = prepared(root, {"src/a.py": b"", "src/b.py": b"b", "new.py": b"n", "sub/x.py": b"x"})
    target, expected = root / "src/b.py", ("src/b.py",)
    match edit:
        case "content":
            target.write_bytes(b"z = 2\n")
        case "mode":
            target.chmod(0o755)
        case "gone":
            target.unlink()
        case "link":
            target.unlink()
            os.symlink("a.py", target)
        case "folder":
            target.unlink()
            target.mkdir()
        case "pipe":
            target.unlink()
            os.mkfifo(target)
        case "created":
            (root / "new.py").write_bytes(b"mine\n")
            expected = ("new.py",)
        case _:
            os.symlink(tmp_path, root / "sub")
            expected = ("sub/x.py",)
    photograph = oracle.photograph(root)
    landing = workspace.land("run", before, after)
    assert (landing.conflicts, landing.written) == (expected, ())
    assert oracle.photograph(root) == photograph
    assert workspace.landed("run") is None
    assert not (tmp_path / "x.py").exists()


@pytest.mark.usefixtures("_renames")
@pytest.mark.parametrize("way", ["replace", "write", "delete", "create"])
@pytest.mark.parametrize("when", ["intent durable", "file compared"])
def test_an_edit_at_the_last_instant_is_put_back(tmp_path: Path, when: str, way: str) -> None:
    """The user saves before a file is compared, or after that and before the swap."""
    root = oracle.small(tmp_path / "r")
    steps: list[str] = []

    def user(step: str) -> None:
        steps.append(step)
        # The files are done in order: d/e, new.py, src/a.py, src/b.py.
        if step != when or steps.count(when) != (1 if when == "intent durable" else 2 if way == "create" else 4):
            return
        match way:
            case "replace":
                (root / "save").write_bytes(b"mine\n")
                (root / "save").rename(root / "src/b.py")
            case "write":
                (root / "src/b.py").write_bytes(b"mine\n")
            case "delete":
                (root / "src/b.py").unlink()
            case _:
                (root / "new.py").write_bytes(b"mine\n")

    workspace = oracle.workspace(root, point=user)
    before = workspace.snapshot("run").tree
    after = workspace.apply(before, oracle.patch({"src/a.py": b"a\n", "src/b.py": b"b\n", "new.py": b"n", "d/e": b"e"}))
    assert workspace.land("run", before, after).conflicts == ("new.py" if way == "create" else "src/b.py",)
    assert (root / "src/a.py").read_bytes() == b"x = 1\n"
    assert not (root / "d").exists()
    if way == "create":
        assert (root / "new.py").read_bytes() == b"mine\n"
    else:
        assert not (root / "new.py").exists()
        assert (root / "src/b.py").exists() is (way != "delete")
        assert way == "delete" or (root / "src/b.py").read_bytes() == b"mine\n"


def test_a_write_into_a_file_already_replaced_is_rescued(tmp_path: Path) -> None:
    """An editor that had the old file open writes into it after the check."""
    root = oracle.small(tmp_path / "r")
    with open(root / "src/a.py", "r+b") as editor:

        def user(step: str) -> None:
            if step == "commit durable":
                editor.write(b"late words\n")
                editor.flush()

        workspace = oracle.workspace(root, point=user)
        before = workspace.snapshot("run").tree
        workspace.land("run", before, workspace.apply(before, oracle.patch({"src/a.py": b"a\n"})))
    (rescued,) = (root / ".harness/rescued").iterdir()
    assert rescued.read_bytes() == b"late words\n"
    assert rescued.name in "".join(workspace.recover())
    assert workspace.recover() == ()


def test_attributes_of_replaced_files_are_kept(tmp_path: Path) -> None:
    """Case A31; other hard links keep the old content, as documented."""
    root = oracle.small(tmp_path / "r")
    target = root / "src/a.py"
    target.chmod(0o2640)
    os.setxattr(target, "user.note", b"kept")
    os.link(target, tmp_path / "other")
    before_owner = (12345, 12346) if os.geteuid() == 0 else (os.getuid(), os.getgid())
    os.chown(target, *before_owner)
    target.chmod(0o2640)
    workspace, before, _ = prepared(root, {})
    changes = {"src/a.py": FileContent(data=b"a\n", executable=True), "run.sh": FileContent(data=b"r\n")}
    workspace.land("run", before, workspace.apply(before, patch_of(changes)))
    facts = target.stat()
    assert (facts.st_mode & 0o7777, facts.st_uid, facts.st_gid) == (0o2750, *before_owner)
    assert os.getxattr(target, "user.note") == b"kept"
    assert (root / "run.sh").stat().st_mode & 0o7777 == 0o644
    assert (tmp_path / "other").read_bytes() == b"x = 1\n"
    workspace.rollback("run")
    facts = target.stat()
    assert (facts.st_mode & 0o7777, facts.st_uid, facts.st_gid) == (0o2640, *before_owner)
    assert (root / "run.sh").stat().st_mode & 0o7777 == 0o755


def test_new_files_follow_the_umask_and_the_folders_group(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    if os.geteuid() == 0:
        os.chown(root / "src", 12345, 12346)
    (root / "src").chmod(0o2775)
    old = os.umask(0o027)
    try:
        workspace, before, after = prepared(root, {"src/sub/n.py": b"n\n"})
        workspace.land("run", before, after)
    finally:
        os.umask(old)
    folder, file = (root / "src/sub").stat(), (root / "src/sub/n.py").stat()
    assert (folder.st_mode & 0o7777, file.st_mode & 0o7777) == (0o2750, 0o640)
    above = (root / "src").stat()
    assert (folder.st_uid, file.st_uid, file.st_gid) == (above.st_uid, above.st_uid, above.st_gid)


@pytest.mark.parametrize("what", ["file", "folder", "new in folder"])
def test_read_only_is_respected_even_by_root(tmp_path: Path, what: str) -> None:
    root = oracle.small(tmp_path / "r")
    locked = root / "src/a.py" if what == "file" else root / "src"
    locked.chmod(0o555 if locked.is_dir() else 0o444)
    changes: dict[str, bytes | None] = {"run.sh": b"r\n", "src/n.py" if what == "new in folder" else "src/a.py": b"n\n"}
    workspace, before, after = prepared(root, changes)
    photograph = oracle.photograph(root)
    with pytest.raises(UsageError, match=r"read-only.*chmod u\+w.*nothing was changed"):
        workspace.land("run", before, after)
    assert oracle.photograph(root) == photograph
    locked.chmod(0o755 if locked.is_dir() else 0o644)
    assert workspace.land("run", before, after).written


def test_symlinks_are_not_landed(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    workspace, before, _ = prepared(root, {})
    os.symlink("/etc/passwd", root / "link")
    after = workspace.snapshot("other").tree
    (root / "link").unlink()
    with pytest.raises(UsageError, match="link is a symlink"):
        workspace.land("run", before, after)


@pytest.mark.parametrize("way", ["file to folder", "folder to file"])
def test_a_file_that_becomes_a_folder_is_refused(tmp_path: Path, way: str) -> None:
    root = oracle.small(tmp_path / "r")
    if way == "file to folder":
        workspace, before, middle = prepared(root, {"src/a.py": None})
        after = workspace.apply(middle, oracle.patch({"src/a.py/b": b"x\n"}))
    else:
        workspace, before, middle = prepared(root, {"tests/test_a.py": None})
        after = workspace.apply(middle, oracle.patch({"tests": b"x\n"}))
    photograph = oracle.photograph(root)
    with pytest.raises(UsageError, match="changes between a file and a folder"):
        workspace.land("run", before, after)
    assert oracle.photograph(root) == photograph


def test_many_files_land_as_well(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    before_it = oracle.photograph(root, times=False)
    changes: dict[str, bytes | None] = {f"many/d{i % 7}/f{i}.py": b"%d\n" % i for i in range(120)}
    workspace, before, after = prepared(root, {**changes, "src/a.py": None})
    assert len(workspace.land("run", before, after).written) == 121
    assert workspace.snapshot("after").tree == after
    assert len(workspace.rollback("run").restored) == 121
    assert oracle.photograph(root, times=False) == before_it


def test_a_second_landing_of_a_run_is_refused_until_it_is_rolled_back(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    workspace, before, after = prepared(root, {"src/a.py": b"a\n"})
    other = workspace.apply(before, oracle.patch({"src/b.py": b"b\n"}))
    assert workspace.landed("run") is None
    workspace.land("run", before, after)
    with pytest.raises(UsageError, match="landed already"):
        workspace.land("run", before, other)
    workspace.rollback("run")
    assert workspace.land("run", before, other).written == ("src/b.py",)
    assert workspace.rollback("run").restored == ("src/b.py",)


def test_landing_nothing_writes_nothing(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    workspace, before, _ = prepared(root, {})
    assert workspace.land("run", before, before).written == ()
    assert workspace.landed("run") is None


def test_an_interrupt_half_way_leaves_the_files_as_they_were(tmp_path: Path) -> None:
    """Case I1: Ctrl-C between two renames."""
    root = oracle.small(tmp_path / "r")
    armed = [True]

    def interrupt(step: str) -> None:
        if step == "file changed places" and armed:
            armed.clear()
            raise KeyboardInterrupt

    workspace = oracle.workspace(root, point=interrupt)
    before = workspace.snapshot("run").tree
    after = workspace.apply(before, oracle.patch({"src/a.py": b"a\n", "src/b.py": None, "d/n.py": b"n\n"}))
    photograph = oracle.photograph(root)
    with pytest.raises(KeyboardInterrupt):
        workspace.land("run", before, after)
    assert {p: f[:4] for p, f in oracle.photograph(root).items()} == {p: f[:4] for p, f in photograph.items()}
    assert len(workspace.land("run", before, after).written) == 3


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", place], check=False).returncode:
        pytest.skip("mounting is not allowed here")
    yield place
    oracle.close_all()
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_said_and_changes_nothing(disk: Path) -> None:
    """Case I3's kind: at a snapshot, at a patch and at a landing."""
    root = oracle.small(disk / "r")
    workspace, before, after = prepared(root, {"src/a.py": b"a" * 300_000, "n.py": b"n" * 300_000})
    with open(disk / "filler", "wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while True:
            filler.write(b"\0" * 4096)
    photograph, status = oracle.photograph(root), oracle.status(root)
    for act in (
        lambda: workspace.land("run", before, after),
        lambda: workspace.apply(before, oracle.patch({"src/b.py": os.urandom(100_000)})),
        lambda: workspace.base(after, lambda _: False),
        lambda: workspace.snapshot("again"),
    ):
        with pytest.raises(WorldFault, match=r"disk is full|No space left"):
            act()
        assert (oracle.photograph(root), oracle.status(root)) == (photograph, status)
    (disk / "filler").unlink()
    assert len(workspace.land("run", before, after).written) == 2


def test_a_read_only_tree_is_said_and_changes_nothing(disk: Path) -> None:
    root = oracle.small(disk / "r")
    workspace, before, after = prepared(root, {"src/a.py": b"a\n"})
    fresh = oracle.small(disk / "fresh")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for act in (
        lambda: workspace.land("run", before, after),
        lambda: workspace.snapshot("again"),
        lambda: oracle.workspace(fresh),
    ):
        with pytest.raises(WorldFault, match="cannot be written"):
            act()
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    assert not (fresh / ".harness").exists()


def test_the_best_renames_are_found_by_trying(tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        assert isinstance(renames_for(fd, print), Atomic)
        assert os.listdir(tmp_path) == []
        for renames in (Atomic(), Plain(print)):
            (tmp_path / "a").write_bytes(b"a")
            (tmp_path / "b").write_bytes(b"b")
            renames.exchange(Place(fd, b"a"), Place(fd, b"b"))
            assert ((tmp_path / "a").read_bytes(), (tmp_path / "b").read_bytes()) == (b"b", b"a")
            with pytest.raises(FileExistsError):
                renames.move(Place(fd, b"a"), Place(fd, b"b"))
            with pytest.raises(FileNotFoundError):
                renames.exchange(Place(fd, b"a"), Place(fd, b"none"))
            renames.move(Place(fd, b"a"), Place(fd, b"c"))
            assert sorted(os.listdir(tmp_path)) == ["b", "c"]
            (tmp_path / "c").unlink()
    finally:
        os.close(fd)
