"""A messy repository before and after a landing or a rollback, and ways to die in between."""

from __future__ import annotations

import os
import signal
import subprocess
import traceback
from collections.abc import Callable
from pathlib import Path

import oracle

CHANGES: dict[str, bytes | None] = {
    "src/m1.py": b"landed 1\n",
    "private.cfg": b"landed\n",
    "src/m3.py": None,
    "deep/er/new.py": b"new\n",
    "odd/new\nline.py": b"landed\n",
}
Point = Callable[[str], None]
Act = Callable[[Path, Point], object]


def land(root: Path, point: Point) -> object:
    before, after = (root / ".harness/trees").read_text().split()
    return oracle.workspace(root, point=point).land("run", before, after)


def roll_back(root: Path, point: Point) -> object:
    return oracle.workspace(root, point=point).rollback("run")


def recover(root: Path, point: Point) -> object:
    return oracle.workspace(root, point=point).recover()


class Scene:
    """A messy repository before an act, what it is after it, and how many points the act has."""

    def __init__(self, place: Path, act: Act) -> None:
        self.act = act
        self.root = oracle.messy(place / "r")
        self._template = place / "template"
        workspace = oracle.workspace(self.root)
        before = workspace.snapshot("run").tree
        after = workspace.apply(before, oracle.patch(CHANGES))
        (self.root / ".harness/trees").write_text(f"{before} {after}")
        if act is roll_back:
            workspace.land("run", before, after)
        oracle.close_all()
        self.folder, self.old = oracle.git_folder(self.root / ".git"), files(self.root)
        subprocess.run(["cp", "-a", self.root, self._template], check=True)
        points: list[str] = []
        act(self.root, points.append)
        oracle.close_all()
        self.points, self.new = len(points), files(self.root)
        assert self.new != self.old

    def reset(self) -> None:
        """Back to before the act."""
        subprocess.run(["rm", "-rf", self.root], check=True)
        subprocess.run(["cp", "-a", self._template, self.root], check=True)

    def kill(self, n: int, act: Act | None = None) -> bool:
        """Act in a child that dies at its n-th point; False if it came to its end."""
        pid = os.fork()
        if pid == 0:
            _die_at(n, act or self.act, self.root)
        _, ended = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(ended) or ended == 0
        return os.WIFSIGNALED(ended)

    def end(self) -> dict[bytes, tuple[object, ...]]:
        """Recover in this process; the files as they are then. Nothing may be left staged."""
        recover(self.root, lambda _: None)
        oracle.close_all()
        assert not {n for n in os.listdir(self.root / ".harness") if n == "landing" or n.startswith("trash")}
        assert oracle.git_folder(self.root / ".git") == self.folder
        return files(self.root)


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


def files(root: Path) -> dict[bytes, tuple[object, ...]]:
    """Everything but times: files put back are written anew."""
    return oracle.photograph(root, times=False)


def others(state: dict[bytes, tuple[object, ...]], path: str) -> dict[bytes, tuple[object, ...]]:
    """A state without one path and the folders on the way to it."""
    return {p: f for p, f in state.items() if not (path + "/").encode().startswith(p + b"/")}
