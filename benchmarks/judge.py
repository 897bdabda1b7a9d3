"""What the judge costs, in one run on one core: a warm verdict against starting pytest, and a suite against pytest's.

Run `python benchmarks/judge.py [CANDIDATES]`. All ways run in the same sandbox, in turns, in one process, so that
other load on the machine falls on all of them; the ratios are what counts. Bars: warm at least 10 times as fast as
starting pytest for each candidate, 30 verdicts a second on a trivial test, and at most a tenth more for a suite.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from referee.adapters.git import GitWorkspace
from referee.adapters.python import find
from referee.adapters.sandbox import open_sandbox, sandbox_owner
from referee.domain.layer import Layer
from referee.domain.patch import FileContent, Patch, patch_of
from referee.domain.protection import Protection
from referee.judge import Project, detect, plan, ruling
from referee.judge.evidence import Evidence, Expected
from referee.judge.plan import TestRun
from referee.ports import Base, Command, Execution, Sandbox

MODULE = "def add(a, b):\n    return a - b\n"
TEST = "from mod import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
TARGET = "tests/test_mod.py::test_add"
SUITE = """\
import hashlib

import pytest


def digest(n):
    text = str(n).encode()
    for _ in range(3000):
        text = hashlib.sha256(text).digest()
    return text


@pytest.mark.parametrize("n", range(50))
def test_{0}(n):
    first = digest(n)
    assert len(first) == 32
    assert first == digest(n)
    assert first != b"" and n + 1 > n
"""
ROUND, SUITE_FILES, SUITE_ROUNDS = 8, 8, 3


class Ground:
    """A project, a sandbox, and ways to run its tests."""

    def __init__(self, root: Path, sandbox: Sandbox) -> None:
        (root / "tests").mkdir()
        (root / "suite").mkdir()
        (root / "mod.py").write_text(MODULE)
        (root / "tests" / "test_mod.py").write_text(TEST)
        for n in range(SUITE_FILES):
            (root / "suite" / f"test_{n}.py").write_text(SUITE.format(n))
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        self.workspace = GitWorkspace(str(root), owner=sandbox_owner())
        tree = self.workspace.snapshot("benchmark").tree
        self.base: Base = self.workspace.base(tree, Protection().guarded)
        self.root, self.sandbox, self.python = root, sandbox, find(str(root), own=sys.executable)
        read = self.workspace.read
        paths = self.workspace.paths(tree)
        self.project: Project = detect(str(root), paths, lambda p: read(tree, p), interpreter=self.python)
        self.warm = sandbox.warm(plan.warm_command(self.project, self.base))

    def pytest(self, patch: Patch, *targets: str, bare: bool = False) -> Execution:
        """`python -m pytest`, with or without installed plugins."""
        env = {**self.project.env, **({"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if bare else {})}
        argv = (self.python.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *targets)
        return self.sandbox.run(
            Command(argv=argv, base=self.base, patch=patch, cwd=str(self.root), env=env, mounts=self.project.mounts)
        )

    def cold(self, patch: Patch, *targets: str) -> Execution:
        """The judge from a fresh start."""
        return self.sandbox.run(plan.command(self.project, self.base, patch, TestRun(ids=targets), 300.0))

    def verdict(self, patch: Patch) -> None:
        """The judge on its warm process, up to the ruling."""
        done = self.warm.run(plan.job(self.project, patch, TestRun(ids=(TARGET,), full=False), 60.0))
        expected = Expected(ids=(TARGET,))
        ruled = ruling.rule(Evidence(check="pytest", layer=Layer.TARGET, execution=done, expected=expected))
        if [f.id for f in ruled.findings] != [TARGET]:
            raise SystemExit(f"not the expected failure: {ruled.findings}")

    def close(self) -> None:
        """End what runs."""
        self.warm.close()
        self.workspace.close()


def candidates(count: int) -> list[Patch]:
    """Patches that do not repair it."""
    texts = (MODULE.replace("a - b", f"a * b + {n + 7}") for n in range(count))
    return [patch_of({"mod.py": FileContent(data=text.encode())}) for text in texts]


def main(count: int) -> int:
    """Measure and print; 1 if a bar is missed."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        sandbox = open_sandbox(allow_degraded=False, cache_dir=folder)
        root = Path(folder).resolve() / "project"
        root.mkdir()
        ground = Ground(root, sandbox)
        good = [_one_file(ground, count), _suite(ground)]
        ground.close()
        sandbox.close()
    return 0 if all(good) else 1


def _one_file(ground: Ground, count: int) -> bool:
    times: dict[str, list[float]] = {
        k: [] for k in ("python -m pytest", "without plugins", "judge, cold", "judge, warm")
    }
    ground.verdict(candidates(1)[0])
    for n in range(0, count, ROUND):
        batch = candidates(count)[n : n + ROUND]
        for patch in batch[:2]:
            times["python -m pytest"].append(timed(lambda p=patch: ground.pytest(p, TARGET)))
            times["without plugins"].append(timed(lambda p=patch: ground.pytest(p, TARGET, bare=True)))
            times["judge, cold"].append(timed(lambda p=patch: ground.cold(p, TARGET)))
        for patch in batch:
            times["judge, warm"].append(timed(lambda p=patch: ground.verdict(p)))
    for name, taken in times.items():
        print(f"{name:18} median {statistics.median(taken) * 1000:7.1f} ms, best {min(taken) * 1000:7.1f} ms")
    ratio = statistics.median(times["python -m pytest"]) / statistics.median(times["judge, warm"])
    rate = 1 / statistics.median(times["judge, warm"])
    print(f"warm against starting pytest, one at a time: {ratio:.1f}x (bar 10)")
    print(f"warm verdicts a second on one core: {rate:.0f} (bar 30)")
    return ratio >= 10 and rate >= 30


def _suite(ground: Ground) -> bool:
    """A suite of some seconds: plain pytest and the cold judge in turns."""
    plain, judged = [], []
    for _ in range(SUITE_ROUNDS):
        plain.append(timed(lambda: ground.pytest(Patch(), "suite")))
        judged.append(timed(lambda: ground.cold(Patch(), "suite")))
    ratio = min(judged) / min(plain)
    print(f"suite of {SUITE_FILES * 50} tests: pytest {min(plain):.2f} s, judge {min(judged):.2f} s")
    print(f"judge over plain pytest: {(ratio - 1) * 100:+.1f} % (bar 10)")
    return ratio <= 1.1


def timed(call: Callable[[], object]) -> float:
    """Seconds one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 64))
