"""As an ordinary user: what cannot be read or written is refused by name, before anything is touched."""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import oracle
import pytest

from referee.domain.errors import UsageError
from referee.ports import Commit

NOBODY = 65534
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user, which only root can")


@pytest.fixture
def root() -> Iterator[Path]:
    """A repository of an ordinary user, in a place that user can reach."""
    place = Path(tempfile.mkdtemp())
    repository = oracle.small(place / "r")
    oracle.workspace(repository).snapshot("warm")  # everything is imported before becoming somebody else
    oracle.close_all()
    shutil.rmtree(repository / ".harness")
    for path in (place, repository, *repository.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    yield repository
    shutil.rmtree(place)


def as_nobody(act: Callable[[], object]) -> str:
    """The words of the `UsageError` that `act` raises as an ordinary user; empty if it does not."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.environ["HOME"] = "/nonexistent"
            act()
        except UsageError as error:
            os.write(writing, str(error).encode())
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with open(reading) as words:
        said = words.read()
    assert os.waitpid(pid, 0)[1] == 0
    return said


def land(root: Path, changes: dict[str, bytes | None]) -> object:
    workspace = oracle.workspace(root)
    before = workspace.snapshot("run").tree
    workspace.base(before, lambda _: False)
    landing = workspace.land("run", before, workspace.apply(before, oracle.patch(changes)))
    assert landing.written == tuple(sorted(changes))
    return workspace.rollback("run")


def test_an_ordinary_repository_works(root: Path) -> None:
    before = oracle.photograph(root, times=False)
    assert as_nobody(lambda: land(root, {"src/a.py": b"a\n", "d/e.py": b"e\n", "src/b.py": None})) == ""
    assert oracle.photograph(root, times=False) == before


def test_an_unreadable_file_is_named(root: Path) -> None:
    oracle.write(root, "secret notes.txt", b"x\n", 0o000)
    assert "secret notes.txt cannot be read; make it readable" in as_nobody(lambda: land(root, {"src/a.py": b"a\n"}))


def test_an_unreadable_folder_is_named(root: Path) -> None:
    oracle.write(root, "closed/x.py", b"x\n")
    (root / "closed").chmod(0o700)
    assert "closed" in as_nobody(lambda: land(root, {"src/a.py": b"a\n"}))


def test_an_unreadable_ignore_file_is_named(root: Path) -> None:
    """Case A10."""
    oracle.write(root, "src/.gitignore", b"x\n", 0o000)
    assert ".gitignore" in as_nobody(lambda: land(root, {"src/a.py": b"a\n"}))


def test_somebody_elses_file_is_not_replaced(root: Path) -> None:
    os.chown(root / "src/a.py", 12345, NOBODY)
    before = oracle.photograph(root)
    said = as_nobody(lambda: land(root, {"src/a.py": b"a\n", "src/b.py": b"b\n"}))
    assert "src/a.py belongs to another user (id 12345)" in said
    assert oracle.photograph(root) == before


def test_a_folder_that_may_not_be_written_is_named(root: Path) -> None:
    os.chown(root / "src", 0, 0)
    before = oracle.photograph(root)
    assert "src/a.py is in a read-only folder" in as_nobody(lambda: land(root, {"run.sh": b"r\n", "src/a.py": b"a\n"}))
    assert oracle.photograph(root) == before


def test_a_repository_that_may_not_be_written_is_named(root: Path) -> None:
    os.chown(root, 0, 0)
    assert ".harness cannot be written (Permission denied)" in as_nobody(lambda: land(root, {"src/a.py": b"a\n"}))


def test_somebody_elses_repository_works_or_says_why(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        os.chown(path, 12345, 12345)
    assert ".harness cannot be written" in as_nobody(lambda: land(root, {"src/a.py": b"a\n"}))


def test_an_ordinary_user_commits_and_takes_it_back(root: Path) -> None:
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        oracle.git(root, "-c", "safe.directory=*", "config", key, value)
    os.chown(root / ".git/config", NOBODY, NOBODY)

    def act() -> None:
        workspace = oracle.workspace(root)
        assert workspace.check_place("commit") == ()
        start = workspace.snapshot("run")
        after = workspace.apply(start.tree, oracle.patch({"src/a.py": b"x = 2\n"}))
        landing = workspace.commit("run", start.tree, after, Commit(parent=start.head, message="Mend it\n"))
        assert landing.revision == workspace.snapshot("look").head
        assert workspace.rollback("run").restored == ("src/a.py",)
        assert workspace.snapshot("look").head == start.head

    assert as_nobody(act) == ""


def test_root_does_not_commit_in_somebody_elses_repository(root: Path) -> None:
    """The objects it would leave are root's, and their owner could no longer add to those folders."""
    with pytest.raises(UsageError, match=f"belongs to another user \\(id {NOBODY}\\); run as that user"):
        oracle.workspace(root).check_place("commit")
