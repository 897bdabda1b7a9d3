"""Power loss in the middle of a landing or a rollback: killed at every point, and again while recovering."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import oracle
import pytest

from referee.adapters.git import stage as staging
from referee.adapters.git.rename import Plain

CHANGES: dict[str, bytes | None] = {
    "src/m1.py": b"landed 1\n",
    "private.cfg": b"landed\n",
    "src/m3.py": None,
    "deep/er/new.py": b"new\n",
    "odd/new\nline.py": b"landed\n",
}
MINE = b"written by the user after the crash\n"
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


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a place: a kill is no power cut, so waiting for a disk would show nothing."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture(params=["atomic", "plain"])
def _renames(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "plain":
        monkeypatch.setattr(staging, "renames_for", lambda _, point: Plain(point))


@pytest.mark.slow
@pytest.mark.usefixtures("_renames")
@pytest.mark.parametrize("act", [land, roll_back])
def test_a_kill_at_any_point_ends_in_all_or_nothing(place: Path, act: Act) -> None:
    """Cases I1 and I2: zero mixed states after recovery, with a second kill during every recovery."""
    scene = Scene(place, act)
    assert scene.points >= 22
    mixed_before, ends = 0, {"old": 0, "new": 0}
    for n in range(1, scene.points + 1):
        scene.reset()
        assert scene.kill(n)
        mixed_before += files(scene.root) not in (scene.old, scene.new)
        scene.kill(1 + n % 7, recover)
        end = scene.end()
        assert end in (scene.old, scene.new), f"mixed after a kill at point {n}"
        ends["old" if end == scene.old else "new"] += 1
        if n % 3 == 0:
            act(scene.root, lambda _: None)  # the same again: no harm, and it gets there
            oracle.close_all()
            assert files(scene.root) == scene.new
    assert mixed_before >= 5, "the control: the kills do hit half-made changes"
    assert min(ends.values()) >= 2


@pytest.mark.slow
def test_recovery_killed_at_every_one_of_its_points(place: Path) -> None:
    """A kill between two files, then recoveries that each die one point later."""
    scene = Scene(place, land)
    for first in (scene.points // 3, scene.points // 2, 2 * scene.points // 3):
        scene.reset()
        assert scene.kill(first)
        deaths = 0
        while scene.kill(deaths + 1, recover):
            deaths += 1
            assert deaths < 100
        assert deaths >= 1
        assert scene.end() in (scene.old, scene.new)


@pytest.mark.slow
@pytest.mark.parametrize("act", [land, roll_back])
def test_what_the_user_writes_after_a_crash_stays(place: Path, act: Act) -> None:
    """At every point, to a file that is replaced, deleted or created in turn."""
    scene = Scene(place, act)
    for n in range(1, scene.points + 1):
        path = ("src/m1.py", "src/m3.py", "deep/er/new.py")[n % 3]
        scene.reset()
        scene.kill(n)
        oracle.write(scene.root, path, MINE)
        end = scene.end()
        assert (scene.root / path).read_bytes() == MINE, f"overwritten after a kill at point {n}"
        assert others(end, path) in (others(scene.old, path), others(scene.new, path)), f"mixed after point {n}"


def test_a_crash_is_told_in_words(place: Path) -> None:
    scene = Scene(place, land)
    said = set()
    for n in range(1, scene.points + 1, 3):
        scene.reset()
        scene.kill(n)
        workspace = oracle.workspace(scene.root)
        said |= {words.split(":")[0] for words in workspace.recover()}
        assert workspace.recover() == ()
        landed = workspace.landed("run")
        assert (landed is not None) == (files(scene.root) == scene.new)
        oracle.close_all()
    assert "finished the interrupted landing of run run" in said
    assert "removed what an interrupted landing had staged; no file of yours had changed" in said
