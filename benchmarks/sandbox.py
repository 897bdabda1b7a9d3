"""What the sandbox costs: `python benchmarks/sandbox.py`. Ratios are what counts; times depend on the machine.

Everything that is compared is measured alternately, so that a busy machine slows both sides alike.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from referee.adapters.sandbox import sandbox_owner
from referee.adapters.sandbox.userns import UsernsSandbox
from referee.domain.patch import FileContent, patch_of
from referee.ports import Base, Command, Job, Limits, Mount

ROUNDS = 60
SCRIPT = "def main(argv):\n    return 0\n"
TREE = "import os, time\nfor n in range(63):\n    if os.fork() == 0: time.sleep(60)\ntime.sleep(60)\n"


def tree(folder: str, files: int) -> Base:
    """A base of so many small files, a hundred to a folder."""
    for n in range(files):
        path = os.path.join(folder, f"d{n // 100}", f"f{n}.py")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(b"x" * 2000)
    owner = sandbox_owner()
    for where, _, names in os.walk(folder):
        for path in (where, *(os.path.join(where, name) for name in names)):
            if owner:
                os.chown(path, *owner)
    return Base(tree="t", path=folder, mount_at="/home/bench/tree", protected=("d0",))


def alternately(rounds: int, **measured: Callable[[], object]) -> dict[str, list[float]]:
    """Seconds of each call, taken in turns."""
    times: dict[str, list[float]] = {name: [] for name in measured}
    for _ in range(rounds):
        for name, call in measured.items():
            began = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - began)
    return times


def show(times: dict[str, list[float]], against: str) -> None:
    """A line per measurement: best, median, and both as ratios."""
    best, median = min(times[against]), statistics.median(times[against])
    for name, taken in times.items():
        low, middle = min(taken), statistics.median(taken)
        print(
            f"{name:34s} best {low * 1e3:7.1f} ms ({low / best:5.2f}x)  median {middle * 1e3:7.1f} ms "
            f"({middle / median:5.2f}x)"
        )


def kill_a_tree(sandbox: UsernsSandbox, python: str) -> list[float]:
    """Seconds from the limit to the result, for 64 processes."""
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        ended = sandbox.run(
            Command(argv=(python, "-I", "-S", "-c", TREE), limits=Limits(wall_seconds=1.5), mounts=interpreter())
        )
        assert ended.killed_by == "wall", ended
        taken.append(time.perf_counter() - began - 1.5)
    return taken


def overshoot(sandbox: UsernsSandbox, python: str) -> int:
    """Bytes above a limit of 512 MiB when a fast allocator is killed."""
    code = "x = []\nwhile True: x.append(b'x' * (4 << 20))"
    limits = Limits(memory_bytes=512 << 20)
    ended = sandbox.run(Command(argv=(python, "-I", "-S", "-c", code), limits=limits, mounts=interpreter()))
    assert ended.killed_by == "memory", ended
    return ended.peak_memory_bytes - (512 << 20)


def interpreter() -> tuple[Mount, ...]:
    prefixes = {sys.base_prefix, os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))}
    return tuple(Mount(source=p, target=p) for p in sorted(prefixes))


def main() -> None:
    """Measure and print."""
    python = os.path.realpath(sys.executable)
    folder = tempfile.mkdtemp(prefix="referee-bench-")
    sandbox = UsernsSandbox()
    try:
        few, many = (tree(os.path.join(folder, str(n)), n) for n in (20, 20_000))
        with open(os.path.join(folder, "entry.py"), "w", encoding="utf-8") as f:
            f.write(SCRIPT)
        twelve = patch_of({f"d0{n}/f{n}.py": FileContent(data=b"y" * 2000) for n in range(12)})
        mounts = (*interpreter(), Mount(source=os.path.join(folder, "entry.py"), target="/opt/entry.py"))
        entry = (python, "-I", "-B", "/opt/entry.py")
        warm = sandbox.warm(Command(argv=entry, base=few, cwd=few.mount_at, mounts=mounts))
        cold = Command(argv=entry, base=few, cwd=few.mount_at, mounts=mounts)
        times = alternately(
            ROUNDS,
            plain=lambda: subprocess.run(["true"], check=True),
            sandboxed=lambda: sandbox.run(Command(argv=("true",))),
            base_of_20=lambda: sandbox.run(Command(argv=("true",), base=few)),
            base_of_20_000=lambda: sandbox.run(Command(argv=("true",), base=many)),
            base_of_20_000_and_patch_of_12=lambda: sandbox.run(Command(argv=("true",), base=many, patch=twelve)),
            warm_job=lambda: warm.run(Job(argv=(), patch=twelve)),
            cold_job=lambda: sandbox.run(cold),
        )
        show(times, "plain")
        print(f"20 000 files against 20: {min(times['base_of_20_000']) / min(times['base_of_20']):.2f}x (best)")
        print(f"64 processes dead after: {', '.join(f'{t * 1e3:.0f} ms' for t in kill_a_tree(sandbox, python))}")
        print(f"memory above its limit:  {overshoot(sandbox, python) / 2**20:.0f} MiB of 512 MiB")
    finally:
        sandbox.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
