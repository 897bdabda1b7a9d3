"""What the git workspace costs on a large repository: `python benchmarks/state.py [files] [repeats]`.

Every figure is also given as a ratio to `git status` and to `git add -A` with a warm index of its own, measured in
turn with it, because the machine may be busy. The bar is held against the best of all turns.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from referee.adapters.git import GitWorkspace
from referee.domain.patch import FileContent, Patch, patch_of
from referee.domain.protection import Protection

T = TypeVar("T")
ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_OPTIONAL_LOCKS": "0"}


def build(root: Path, count: int) -> None:
    """A committed repository of `count` source files in folders of 40."""
    chance = random.Random(7)
    for i in range(count):
        folder = root / f"pkg{i // 400}/sub{i // 40 % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"m{i}.py").write_bytes(b"value = %d\n" % i * chance.randint(1, 1_500))
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "one")
    time.sleep(1.1)  # or git must read again what was written in the same second as its index
    git(root, "update-index", "--refresh")


def git(root: Path, *args: str, **more: str) -> None:
    subprocess.run(["git", *args], cwd=root, env={**ENVIRONMENT, **more}, check=True, stdout=subprocess.DEVNULL)


def change(count: int, turn: int) -> Patch:
    """A patch to `count` files, each in another package."""
    files = {f"pkg{k}/sub3/m{k * 400 + 120}.py": FileContent(data=b"turn = %d\n" % turn * 60) for k in range(count)}
    return patch_of(files)


class Table:
    """Times in milliseconds, by name, in the order first seen."""

    def __init__(self) -> None:
        self._times: dict[str, list[float]] = {}

    def time(self, name: str, act: Callable[[], T]) -> T:
        """Run and note how long it took."""
        started = time.perf_counter()
        result = act()
        self._times.setdefault(name, []).append(1000 * (time.perf_counter() - started))
        return result

    def show(self) -> None:
        """One line per name: least, median, and the least against the least of the two references; then the bar."""
        status, add = (min(self._times[name]) for name in ("git status", "git add -A"))
        print(f"{'':34}{'min ms':>9}{'median':>9}{'/status':>9}{'/add':>9}")
        for name, times in self._times.items():
            best = min(times)
            print(f"{name:34}{best:9.1f}{statistics.median(times):9.1f}{best / status:9.2f}{best / add:9.2f}")
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        both = min(self._times["snapshot, warm"]) + min(self._times["roll back 20 files"])
        print(f"snapshot + rollback of 20 files against git status: {both / status:.2f}x (bar 1.5x)")


def measure(root: Path, repeats: int) -> None:
    """All figures, `repeats` times in turn."""
    table = Table()
    index = str(root.parent / "index")
    git(root, "add", "-A", GIT_INDEX_FILE=index)
    first = GitWorkspace(str(root))
    before = table.time("first snapshot", lambda: first.snapshot("first")).tree
    table.time("first base", lambda: first.base(before, lambda _: False))
    table.time("protected paths of a base", lambda: first.base(before, Protection().guarded))
    first.close()
    for turn in range(repeats):
        table.time("git status", lambda: git(root, "status", "--porcelain"))
        table.time("git add -A", lambda: git(root, "add", "-A", GIT_INDEX_FILE=index))
        workspace = table.time("open", lambda: GitWorkspace(str(root)))
        run = f"run{turn}"
        before = table.time("snapshot, warm", lambda r=run, w=workspace: w.snapshot(r)).tree
        workspace.read(before, "pkg0/sub3/m120.py")
        one = table.time("apply 1 file", lambda t=turn, w=workspace, b=before: w.apply(b, change(1, t)))
        after = table.time("apply 20 files", lambda t=turn, w=workspace, b=before: w.apply(b, change(20, t + 1_000)))
        table.time("read 20 files", lambda w=workspace, a=after: [w.read(a, p) for p in change(20, 0).touched])
        table.time("diff of 1 file", lambda w=workspace, b=before, o=one: w.diff(b, o))
        workspace.base(before, lambda _: False)
        workspace.close()
        workspace = GitWorkspace(str(root))
        table.time("base reused", lambda w=workspace, b=before: w.base(b, lambda _: False))
        table.time("land 20 files", lambda r=run, w=workspace, b=before, a=after: w.land(r, b, a))
        table.time("snapshot, 20 files changed", lambda r=run, w=workspace: w.snapshot(f"{r}-after"))
        table.time("roll back 20 files", lambda r=run, w=workspace: w.rollback(r))
        workspace.snapshot(f"{run}-back")
        workspace.close()
        moved = GitWorkspace(str(root))
        table.time("base moved forward, 20 files", lambda w=moved, a=after: w.base(a, lambda _: False))
        moved.close()
    table.show()


def main() -> None:
    """Build, measure, print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "r"
        build(root, count)
        measure(root, repeats)


if __name__ == "__main__":
    main()
