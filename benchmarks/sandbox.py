"""What the sandbox costs: `python benchmarks/sandbox.py [rounds]`. Ratios are what counts; times depend on the machine.

Everything that is compared is measured alternately, so that a busy machine slows both sides alike, and each bar is
held against the best of all rounds: what a machine at rest would show.
"""

from __future__ import annotations

import contextlib
import itertools
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
COPIES = 2  # of a whole repository, by other means
BWRAP = shutil.which("bwrap")
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


def bubblewrap(base: Base) -> list[str]:
    """The nearest that bubblewrap does by itself: the same namespaces, the base read-only."""
    return [
        "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
        "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
        "--tmpfs", "/tmp", "--ro-bind", base.path, base.mount_at, "true",
    ]  # fmt: skip


def copies(base: Base, folder: str) -> dict[str, Callable[[], object]]:
    """A workspace of the same files by other means, each with a run of `true`; made anew every time."""
    repo, count = os.path.join(folder, "repo"), itertools.count()
    shutil.copytree(base.path, repo)
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for args in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "one")):
        subprocess.run(["git", *args], cwd=repo, check=True, env=env)

    def worktree() -> None:
        place = os.path.join(folder, f"worktree{next(count)}")
        subprocess.run(["git", "worktree", "add", "-q", "--detach", place], cwd=repo, check=True, env=env)
        subprocess.run(["true"], cwd=place, check=True)

    def copytree() -> None:
        place = shutil.copytree(base.path, os.path.join(folder, f"copy{next(count)}"))
        subprocess.run(["true"], cwd=place, check=True)

    return {"git_worktree_of_20_000": worktree, "copytree_of_20_000": copytree}


def bar(what: str, seen: float, limit: float, unit: str) -> None:
    """One bar, kept or not."""
    print(f"{what:58s} {seen:8.2f} {unit:4s} (bar {limit:g} {unit}) {'kept' if seen <= limit else 'NOT KEPT'}")


def survivors() -> int:
    """Processes of the tree that are still there."""
    found = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
            found += TREE.encode() in file.read()
    return found


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
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
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
            rounds,
            plain=lambda: subprocess.run(["true"], check=True),
            sandboxed=lambda: sandbox.run(Command(argv=("true",))),
            base_of_20=lambda: sandbox.run(Command(argv=("true",), base=few)),
            base_of_20_000=lambda: sandbox.run(Command(argv=("true",), base=many)),
            base_of_20_000_and_patch_of_12=lambda: sandbox.run(Command(argv=("true",), base=many, patch=twelve)),
            warm_job=lambda: warm.run(Job(argv=(), patch=twelve)),
            cold_job=lambda: sandbox.run(cold),
            **({"bubblewrap_of_20_000": lambda: subprocess.run(bubblewrap(many), check=True)} if BWRAP else {}),
        )
        times |= alternately(COPIES, **copies(many, folder))
        show(times, "plain")
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; the bars are for one at rest")
        best = {name: min(taken) for name, taken in times.items()}
        killed = min(kill_a_tree(sandbox, python))
        bar("spawn against a plain spawn", best["sandboxed"] / best["plain"], 12, "x")
        bar("create and run, 20 000 files against 20", best["base_of_20_000"] / best["base_of_20"], 1.2, "x")
        bar("reset, patch of 12 files and run", best["base_of_20_000_and_patch_of_12"] * 1e3, 20, "ms")
        bar("64 processes dead", killed * 1e3, 100, "ms")
        bar("64 processes, survivors", survivors(), 0, "")
        bar("memory above a limit of 512 MiB", max(0, overshoot(sandbox, python)) / 2**20, 64, "MiB")
    finally:
        sandbox.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
