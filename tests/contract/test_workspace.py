"""The contract of the port `Workspace`, held by the git adapter and by the fake alike."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.adapters.git import GitWorkspace
from referee.domain.errors import Rejected
from referee.domain.finding import FindingKind
from referee.domain.patch import FileContent, patch_of
from referee.ports import Workspace
from referee.testing import FakeWorkspace

FILES = {"src/a.py": b"a = 1\n", "src/b.py": b"b = 1\n", "tests/test_a.py": b"t\n", "tests/deep/test_b.py": b"t\n"}
CHANGES = {"src/a.py": FileContent(data=b"a = 2\n"), "src/b.py": None, "src/sub/new.py": FileContent(data=b"n\n")}


class User:
    """Somebody who looks at the files and edits them."""

    def __init__(self, read: Callable[[], dict[str, bytes]], write: Callable[[str, bytes], None]) -> None:
        self.files = read
        self.write = write


class Desk:
    """A workspace and its user."""

    def __init__(self, workspace: Workspace, user: User) -> None:
        self.workspace = workspace
        self.user = user
        self.before = workspace.snapshot("run").tree
        self.after = workspace.apply(self.before, patch_of(dict(CHANGES)))


def in_git(root: Path) -> tuple[Workspace, User]:
    def read() -> dict[str, bytes]:
        files = (p for p in root.rglob("*") if p.is_file())
        return {
            str(p.relative_to(root)): p.read_bytes()
            for p in files
            if p.relative_to(root).parts[0] not in (".git", ".harness")
        }

    def write(path: str, data: bytes) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)

    root.mkdir()
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    subprocess.run(["git", "init", "-q", root], env=clean, check=True)
    for path, data in FILES.items():
        write(path, data)
    return GitWorkspace(str(root)), User(read, write)


def in_memory(_: Path) -> tuple[Workspace, User]:
    fake = FakeWorkspace(FILES)

    def write(path: str, data: bytes) -> None:
        fake.files[path] = FileContent(data=data)

    return fake, User(lambda: {p: c.data for p, c in fake.files.items()}, write)


@pytest.fixture(params=[in_git, in_memory])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    workspace, user = request.param(tmp_path / "r")
    yield Desk(workspace, user)
    workspace.close()


def test_a_snapshot_can_be_read(desk: Desk) -> None:
    workspace = desk.workspace
    assert workspace.paths(desk.before) == tuple(sorted(FILES))
    assert {p: workspace.read(desk.before, p) for p in FILES} == FILES
    assert workspace.read(desk.before, "src") is None
    assert workspace.read(desk.before, "nothing") is None
    assert not workspace.executable(desk.before, "src/a.py")
    assert workspace.snapshot("again").tree == desk.before


def test_a_snapshot_does_not_follow_the_user(desk: Desk) -> None:
    desk.user.write("src/a.py", b"edited\n")
    assert desk.workspace.read(desk.before, "src/a.py") == b"a = 1\n"
    assert desk.workspace.snapshot("again").tree != desk.before


def test_applying_makes_a_tree_and_touches_no_file(desk: Desk) -> None:
    workspace = desk.workspace
    assert desk.user.files() == FILES
    assert workspace.read(desk.after, "src/a.py") == b"a = 2\n"
    assert workspace.read(desk.after, "src/b.py") is None
    assert "src/sub/new.py" in workspace.paths(desk.after)
    assert workspace.apply(desk.before, patch_of(dict(CHANGES))) == desk.after
    executable = workspace.apply(desk.before, patch_of({"src/a.py": FileContent(data=b"a = 1\n", executable=True)}))
    assert workspace.executable(executable, "src/a.py")
    assert executable != desk.before


def test_a_patch_that_does_not_fit_is_rejected_as_a_whole(desk: Desk) -> None:
    for path, content in (("nothing.py", None), ("src", FileContent(data=b"")), ("src/a.py/x", FileContent(data=b""))):
        with pytest.raises(Rejected) as caught:
            desk.workspace.apply(desk.before, patch_of({"good.py": FileContent(data=b""), path: content}))
        assert [(f.kind, f.path) for f in caught.value.findings] == [(FindingKind.UNAPPLIABLE, path)]


def test_the_difference_of_a_tree_to_itself_is_empty(desk: Desk) -> None:
    assert desk.workspace.diff(desk.before, desk.before) == b""
    assert b"+a = 2" in desk.workspace.diff(desk.before, desk.after)
    assert b"-a = 2" in desk.workspace.diff(desk.after, desk.before)


def test_a_repository_without_that_many_commits_has_nothing_recent(desk: Desk) -> None:
    assert desk.workspace.recent(desk.before, 3) == {}


def test_a_base_names_what_is_protected(desk: Desk) -> None:
    base = desk.workspace.base(desk.before, lambda p: p.startswith("tests/"))
    assert (base.tree, base.mount_at) == (desk.before, desk.workspace.root)
    covered = {p for p in FILES for g in base.protected if p == g or p.startswith(g + "/")}
    assert covered == {p for p in FILES if p.startswith("tests/")}


def test_landing_is_seen_by_the_user_and_remembered(desk: Desk) -> None:
    assert desk.workspace.landed("run") is None
    landing = desk.workspace.land("run", desk.before, desk.after)
    assert (landing.written, landing.conflicts) == (("src/a.py", "src/b.py", "src/sub/new.py"), ())
    assert desk.user.files() == {p: desk.workspace.read(desk.after, p) for p in desk.workspace.paths(desk.after)}
    assert desk.workspace.landed("run") == landing
    assert desk.workspace.landed("other") is None
    assert desk.workspace.recover() == ()


@pytest.mark.parametrize("path", ["src/a.py", "src/b.py", "src/sub/new.py"])
def test_a_conflict_lands_nothing(desk: Desk, path: str) -> None:
    desk.user.write(path, b"mine\n")
    seen = desk.user.files()
    landing = desk.workspace.land("run", desk.before, desk.after)
    assert (landing.written, landing.conflicts) == ((), (path,))
    assert desk.user.files() == seen
    assert desk.workspace.landed("run") is None


def test_edits_elsewhere_are_no_conflict(desk: Desk) -> None:
    desk.user.write("tests/test_a.py", b"mine\n")
    assert desk.workspace.land("run", desk.before, desk.after).conflicts == ()
    desk.workspace.rollback("run")
    assert desk.user.files() == {**FILES, "tests/test_a.py": b"mine\n"}


def test_rolling_back_keeps_what_somebody_changed_since(desk: Desk) -> None:
    desk.workspace.land("run", desk.before, desk.after)
    desk.user.write("src/a.py", b"mine\n")
    desk.user.write("src/b.py", b"b = 1\n")
    restoration = desk.workspace.rollback("run")
    assert restoration.kept == ("src/a.py",)
    assert restoration.unchanged == ("src/b.py",)
    assert restoration.restored == ("src/sub/new.py",)
    assert not restoration.failed
    assert desk.user.files() == {**FILES, "src/a.py": b"mine\n"}
