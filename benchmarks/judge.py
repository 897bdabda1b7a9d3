"""Candidates per second on a one-file target: the warm judge against starting pytest for each candidate.

Run `python benchmarks/judge.py [CANDIDATES]`. Both ways run in the same sandbox, in turns, in one process, so that
other load on the machine falls on both; the ratio is what counts (bar: 10).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from referee.adapters.git import GitWorkspace
from referee.adapters.python import find
from referee.adapters.sandbox import open_sandbox, sandbox_owner
from referee.domain.patch import FileContent, Patch, patch_of
from referee.domain.protection import Protection
from referee.judge import detect, plan
from referee.judge.plan import TestRun
from referee.ports import Base, Command

MODULE = "def add(a, b):\n    return a - b\n"
TEST = "from mod import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
TARGET = "tests/test_mod.py::test_add"
ROUND = 8


def repository(root: Path) -> None:
    """A project with one module and one test."""
    (root / "tests").mkdir()
    (root / "mod.py").write_text(MODULE)
    (root / "tests" / "test_mod.py").write_text(TEST)
    subprocess.run(["git", "init", "-q", str(root)], check=True)


def candidates(count: int) -> list[Patch]:
    """Patches that do not repair it."""
    texts = (MODULE.replace("a - b", f"a * b + {n}") for n in range(count))
    return [patch_of({"mod.py": FileContent(data=text.encode())}) for text in texts]


def main(count: int) -> int:
    """Measure and print; 1 if the bar is missed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        repository(root)
        workspace = GitWorkspace(str(root), owner=sandbox_owner())
        tree = workspace.snapshot("benchmark").tree
        base = workspace.base(tree, Protection().guarded)
        sandbox = open_sandbox(allow_degraded=False, cache_dir=folder)
        python = find(str(root), own=sys.executable)
        project = detect(str(root), workspace.paths(tree), lambda p: workspace.read(tree, p), interpreter=python)
        warm = sandbox.warm(plan.warm_command(project, base))

        def start_pytest(patch: Patch, base: Base, bare: bool) -> Command:
            env = {**project.env, **({"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if bare else {})}
            argv = (python.executable, "-m", "pytest", "-q", TARGET)
            return Command(argv=argv, base=base, patch=patch, cwd=str(root), env=env, mounts=project.mounts)

        cold: list[float] = []
        bare: list[float] = []
        judged: list[float] = []
        forked: list[float] = []
        what = TestRun(ids=(TARGET,), full=False)
        for n in range(0, count, ROUND):
            batch = candidates(count)[n : n + ROUND]
            for patch in batch[:2]:
                cold.append(timed(lambda p=patch: sandbox.run(start_pytest(p, base, False))))
                bare.append(timed(lambda p=patch: sandbox.run(start_pytest(p, base, True))))
                command = plan.command(project, base, patch, what, 60.0)
                judged.append(timed(lambda c=command: sandbox.run(c)))
            for patch in batch:
                job = plan.job(project, patch, what, 60.0)
                forked.append(timed(lambda j=job: warm.run(j)))
        warm.close()
        sandbox.close()
        workspace.close()
    ratio = statistics.median(cold) / statistics.median(forked)
    for name, times in (
        ("python -m pytest", cold),
        ("without plugins", bare),
        ("judge, cold", judged),
        ("judge, warm", forked),
    ):
        print(f"{name:18} median {statistics.median(times) * 1000:7.1f} ms, best {min(times) * 1000:7.1f} ms")
    print(f"warm against starting pytest, one at a time: {ratio:.1f}x (bar 10)")
    return 0 if ratio >= 10 else 1


def timed(call: object) -> float:
    """Seconds one call takes."""
    start = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - start


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 64))
