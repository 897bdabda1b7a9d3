"""Killed in the middle of a commit or of taking one back: files, index and branch are all old or all new."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import traceback
from collections.abc import Callable
from pathlib import Path

import oracle
import pytest

from referee.domain.errors import Cancelled, RefereeError
from referee.ports import Commit

CHANGES: dict[str, bytes | None] = {"src/a.py": b"x = 2\n", "src/b.py": None, "deep/new.py": b"n\n"}
Point = Callable[[str], None]
Act = Callable[[Path, Point], object]
State = tuple[object, ...]


def commit(root: Path, point: Point) -> object:
    before, after, head = (root / ".harness/trees").read_text().split()
    return oracle.workspace(root, point=point).commit("run", before, after, Commit(parent=head, message="Mend it\n"))


def roll_back(root: Path, point: Point) -> object:
    return oracle.workspace(root, point=point).rollback("run")


def state(root: Path) -> State:
    """All that a user sees: files, what is staged, and where the branch is (by content: commits carry the time)."""
    staged = oracle.git(root, "ls-files", "-s", "-v", "-z")
    history = oracle.git(root, "log", "--all", "--format=%T %P %D")
    return oracle.photograph(root, times=False), staged, history, oracle.git(root, "status", "--porcelain", "-z")


class Scene:
    """A repository with staged and dirty files of the user's, before an act and after it."""

    def __init__(self, place: Path, act: Act) -> None:
        self.act, self.root, self._template = act, oracle.small(place / "r"), place / "template"
        for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
            oracle.git(self.root, "config", key, value)
        oracle.write(self.root, "run.sh", b"#!/bin/sh\n# staged\n", 0o755)
        oracle.git(self.root, "add", "run.sh")
        oracle.write(self.root, "tests/test_a.py", b"# dirty\n")
        workspace = oracle.workspace(self.root)
        snapshot = workspace.snapshot("run")
        after = workspace.apply(snapshot.tree, oracle.patch(CHANGES))
        (self.root / ".harness/trees").write_text(f"{snapshot.tree} {after} {snapshot.head}")
        if act is roll_back:
            commit(self.root, lambda _: None)
        oracle.close_all()
        self.old = state(self.root)
        subprocess.run(["cp", "-a", self.root, self._template], check=True)
        self.points: list[str] = []
        act(self.root, self.points.append)
        oracle.close_all()
        self.new = state(self.root)
        assert self.new != self.old

    def reset(self) -> None:
        """Back to before the act."""
        subprocess.run(["rm", "-rf", self.root], check=True)
        subprocess.run(["cp", "-a", self._template, self.root], check=True)

    def kill(self, n: int, act: Act) -> None:
        """Act in a child that dies at its n-th point, if it has so many."""
        pid = os.fork()
        if pid == 0:
            _die_at(n, act, self.root)
        _, ended = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(ended) or ended == 0


def _die_at(n: int, act: Act, root: Path) -> None:
    left = n

    def point(_: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        act(root, point)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def recover(root: Path, point: Point) -> object:
    return oracle.workspace(root, point=point).recover()


@pytest.mark.slow
@pytest.mark.parametrize("act", [commit, roll_back])
def test_a_kill_at_any_point_ends_in_all_or_nothing(place: Path, act: Act) -> None:
    """Files, index and branch together, with a second kill during recovery (cases I1, I2)."""
    scene = Scene(place, act)
    mixed, ends = 0, {"old": 0, "new": 0}
    every = 1 if os.environ.get("REFEREE_KILLS") else 3
    for n in range(1, len(scene.points) + 1, every):
        scene.reset()
        scene.kill(n, act)
        mixed += state(scene.root) not in (scene.old, scene.new)
        scene.kill(1 + n % 5, recover)
        recover(scene.root, lambda _: None)
        oracle.close_all()
        end = state(scene.root)
        assert end in (scene.old, scene.new), f"mixed after a kill at point {n}, {scene.points[n - 1]}"
        ends["old" if end == scene.old else "new"] += 1
        left = {p.name for p in (scene.root / ".git").glob("*.lock")} | {
            p.name for p in scene.root.glob(".git/referee*")
        }
        assert not left
        assert not (scene.root / ".harness/commit").exists()
    assert mixed >= 3, "the control: the kills do hit half-made changes"
    assert min(ends.values()) >= 1


def test_what_a_crash_left_is_ended_and_told(place: Path) -> None:
    scene = Scene(place, commit)
    scene.reset()
    scene.kill(1 + scene.points.index("branch moved"), commit)
    assert (scene.root / ".git/index.lock").exists(), "the control: the kill left git's lock"
    workspace = oracle.workspace(scene.root)
    assert "ended the interrupted commit of run run" in workspace.recover()[0]
    landed = workspace.landed("run")
    assert landed is not None
    assert landed.revision == oracle.git(scene.root, "rev-parse", "HEAD").decode().strip()


def test_a_lock_of_somebody_elses_stays(place: Path) -> None:
    scene = Scene(place, commit)
    scene.reset()
    scene.kill(1 + scene.points.index("commit intended"), commit)
    (scene.root / ".git/index.lock").write_bytes(b"")
    workspace = oracle.workspace(scene.root)
    workspace.recover()
    assert (scene.root / ".git/index.lock").exists()


@pytest.mark.slow
@pytest.mark.parametrize("act", [commit, roll_back])
@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "full"), Cancelled()], ids=["full disk", "ctrl-c"])
def test_a_fault_at_any_point_ends_in_all_or_nothing(place: Path, act: Act, fault: BaseException) -> None:
    """The process lives on: what it says afterwards, and what the next command makes of it, are whole."""
    scene = Scene(place, act)
    ends = set()
    every = 1 if os.environ.get("REFEREE_KILLS") else 4
    for n in range(1, len(scene.points) + 1, every):
        scene.reset()
        left = n

        def point(_: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise fault

        with contextlib.suppress(RefereeError, Cancelled):
            act(scene.root, point)
        oracle.close_all()
        recover(scene.root, lambda _: None)
        oracle.close_all()
        end = state(scene.root)
        assert end in (scene.old, scene.new), f"mixed after a fault at point {n}, {scene.points[n - 1]}"
        ends.add(end == scene.new)
    assert ends == {False, True}
