"""A disk that is really full, really read-only, and a process that really has no descriptors left."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import oracle
import pytest
from scene import Act, Scene, files, land, roll_back

from referee.adapters.store import SqliteStore
from referee.domain.errors import RefereeError, WorldFault
from referee.kernel.journal import Journal, check_chain
from referee.ports import Kind
from referee.testing import FakeClock

PAGE = 4096


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Four megabytes, mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk], check=False).returncode:
        pytest.skip("only root may mount a small disk (and not in every container)")
    yield disk
    oracle.close_all()
    subprocess.run(["umount", "-l", disk], check=True)


def fill(disk: Path, left: int) -> Path:
    """A file that leaves so many pages free."""
    facts = os.statvfs(disk)
    ballast = disk / "ballast"
    fd = os.open(ballast, os.O_WRONLY | os.O_CREAT)
    os.posix_fallocate(fd, 0, max(1, (facts.f_bavail - left) * PAGE))
    os.close(fd)
    return ballast


@pytest.mark.slow
@pytest.mark.parametrize("act", [land, roll_back])
def test_a_full_disk_never_leaves_half_a_state(small_disk: Path, act: Act) -> None:
    scene = Scene(small_disk, act)
    refused = done = 0
    for left in range(0, 44, 4):
        scene.reset()
        ballast = fill(small_disk, left)
        try:
            act(scene.root, lambda _: None)
            done += 1
        except RefereeError as said:
            assert said.exit_code == 69
            assert "full" in str(said) or "No space left" in str(said)
            refused += 1
            assert files(scene.root) == scene.old, f"{left} pages left: half a state"
        finally:
            oracle.close_all()
            ballast.unlink()
        assert scene.end() in (scene.old, scene.new)
        act(scene.root, lambda _: None)
        oracle.close_all()
        assert files(scene.root) == scene.new
    assert refused >= 2 and done >= 2, "the control: the disk is too small at first and large enough in the end"


def journal(folder: Path) -> Journal:
    store = SqliteStore(str(folder))
    if store.run("r") is None:
        store.create("r", "{}", "t")
    return Journal(store, store.claim("r", "me", time.time_ns(), 0), FakeClock())


def test_the_journal_on_a_full_disk_keeps_what_it_accepted(small_disk: Path) -> None:
    ballast = fill(small_disk, 100)
    written = journal(small_disk / "s")
    count = 0
    with pytest.raises(WorldFault) as said:
        for count in range(10_000):
            written.note(f"k{count}", Kind.NOTED, {"text": "x" * 700})
    assert said.value.exit_code == 69
    ballast.unlink()
    again = journal(small_disk / "s")
    again.note("after", Kind.NOTED, {})
    entries = SqliteStore(str(small_disk / "s")).entries("r")
    assert check_chain(entries) is None
    assert [e.key for e in entries[:count]] == [f"k{i}" for i in range(count)]
    assert entries[-1].key == "after" and count <= len(entries) - 1 <= count + 1


def test_a_read_only_disk_is_the_operators_to_mend(small_disk: Path) -> None:
    scene = Scene(small_disk, land)
    scene.reset()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(WorldFault, match="Read-only file system"):
        land(scene.root, lambda _: None)
    with pytest.raises(WorldFault):
        SqliteStore(str(small_disk / "s"))
    assert files(scene.root) == scene.old


@pytest.mark.slow
def test_without_descriptors_the_store_says_so(tmp_path: Path) -> None:
    """The limit itself, since the calls of SQLite cannot be made to fail from here."""
    journal(tmp_path / "s").note("first", Kind.NOTED, {})
    used = max(int(name) for name in os.listdir("/proc/self/fd"))
    for spare in range(16):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (used + spare, used + spare))
                journal(tmp_path / "s").note(f"k{spare}", Kind.NOTED, {})
                SqliteStore(str(tmp_path / "s")).put(b"%d" % spare)
                code = 0
            except WorldFault as fault:
                code = 3 if fault.exit_code == 69 else 4
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) in (0, 3), f"with {spare} descriptors"
        assert check_chain(SqliteStore(str(tmp_path / "s")).entries("r")) is None
