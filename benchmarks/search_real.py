"""The search on bugs that people made: `python benchmarks/search_real.py quixbugs DIR` or `… tasks FILE ARCHIVES`.

DIR is a checkout of QuixBugs; FILE lists tasks of source archives as JSON lines (`old`, `fixed`, `file`, `func`,
`lines`, `f2p`), ARCHIVES is a folder with their `NAME-VERSION.tar.gz`. Each case becomes a repository of its own and
is repaired by `referee fix --generator search` through the ordinary sandbox. Of a task's failing tests every second
one is held out: it is no target, and says afterwards whether what passes is right. With `--out FILE` the table, misses
included, is written as Markdown; `--only N/M` takes the Nth of M parts, to run a piece at a time.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee import api
from referee.config import load
from referee.domain.task import Task

MOST_LINES = 3
TOP = 5


@dataclass(frozen=True, kw_only=True)
class Case:
    """A repository to repair; `fault` is (file, function) where the fault is, `right` the file's right text."""

    name: str
    root: Path
    targets: tuple[str, ...]
    held: tuple[str, ...]
    fault: tuple[str, str]
    right: str
    seconds: float
    steps: int
    variables: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Row:
    """What came of a case. `place` is the faulty function's rank, `held` whether the held-out tests pass."""

    name: str
    end: str
    judged: int
    seconds: float
    place: int | None
    same: bool
    held: str
    doubt: str
    patch: str

    @property
    def passes(self) -> bool:
        """Whether a patch was found that passes everything the search was shown."""
        return self.end in ("solved", "needs_signature")


def quixbugs(home: Path, scratch: Path) -> Iterator[Case]:
    """Each program with its own tests."""
    for test in sorted((home / "python_testcases").glob("test_*.py")):
        name = test.stem.removeprefix("test_")
        root = scratch / name
        files = ["conftest.py", f"python_programs/{name}.py", f"python_testcases/{test.name}"]
        files += [f"python_testcases/{n}.py" for n in ("load_testdata", "node")]
        files += [f"json_testcases/{name}.json"] if (home / f"json_testcases/{name}.json").exists() else []
        for file in files:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_bytes((home / file).read_bytes())
        right = (home / f"correct_python_programs/{name}.py").read_text()
        yield Case(
            name=name, root=root, targets=(), held=(), fault=(f"python_programs/{name}.py", name), right=right,
            seconds=60, steps=5, variables={"REFEREE_TEST_SECONDS": "0.5"},
        )  # fmt: skip


def tasks(listed: Path, archives: Path, scratch: Path) -> Iterator[Case]:
    """A release in which one function is as it was in the release before."""
    for number, line in enumerate(listed.read_text().splitlines()):
        task = json.loads(line)
        if task["lines"] > MOST_LINES:
            continue
        root = scratch / f"{number}"
        _unpack(archives / f"{task['pkg']}-{task['fixed']}.tar.gz", root)
        _unpack(archives / f"{task['pkg']}-{task['old']}.tar.gz", scratch / f"{number}-old")
        right = (root / task["file"]).read_text()
        faulty = _back(right, (scratch / f"{number}-old" / task["file"]).read_text(), task)
        if faulty is None:
            print(f"left out: {task['func']} of {task['fixed']} is not one changed function")
            continue
        (root / task["file"]).write_text(faulty)
        failing = sorted(task["f2p"])
        yield Case(
            name=f"{task['pkg']} {task['fixed']} {task['func']}", root=root,
            targets=tuple(failing[::2]), held=tuple(failing[1::2]), fault=(task["file"], task["func"]), right=right,
            seconds=120, steps=50, variables={},
        )  # fmt: skip


def _unpack(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(target.parent / (target.name + ".d"), filter="data")
    [inner] = (target.parent / (target.name + ".d")).iterdir()
    inner.rename(target)


def _back(new: str, old: str, task: Mapping[str, Any]) -> str | None:
    """`new` with the one function of that name that differs as in `old`."""
    before, after = _functions(old, task["func"]), _functions(new, task["func"])
    differ = [n for n in after if n in before and before[n][2] != after[n][2]]
    if len(differ) != 1:
        return None  # the function is new, or several of that name changed: nothing to put back
    [name] = differ
    first, last, _ = after[name]
    lines = new.splitlines(keepends=True)
    return "".join([*lines[: first - 1], before[name][2], *lines[last:]])


def _functions(text: str, func: str) -> dict[str, tuple[int, int, str]]:
    lines, found = text.splitlines(keepends=True), {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if node.name == func:
                    first, last = min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.end_lineno or 0
                    overloads = sum(name.partition("#")[0] == prefix + func for name in found)
                    found[f"{prefix}{func}#{overloads}"] = (first, last, "".join(lines[first - 1 : last]))
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.If | ast.Try):
                visit([*node.body, *getattr(node, "orelse", [])], prefix)

    visit(ast.parse(text).body, "")
    return found


def repair(case: Case) -> Row:
    """Run it and look at what came."""
    _commit(case.root)
    places: list[tuple[str, str]] = []

    def listen(event: str, facts: Mapping[str, Any]) -> None:
        if event == "search" and "places" in facts:
            places.extend(facts["places"])

    flags = {
        "generator": "search", "budget.max_steps": case.steps, "budget.timeout": case.seconds, "allow_overfitted": True,
        "python": sys.executable,
    }  # fmt: skip
    started = time.perf_counter()
    outcome = api.fix(
        Task(repo=str(case.root), text="", targets=case.targets),
        load(str(case.root), flags=flags, variables=case.variables, user_file=""), listen,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    report, text = outcome.report, (case.root / case.fault[0]).read_text()
    functions = list(dict.fromkeys((p, n.rpartition(".")[2]) for p, n in places))
    return Row(
        name=case.name, end=report.stop_reason.value, judged=report.candidates_judged, seconds=seconds,
        place=functions.index(case.fault) + 1 if case.fault in functions else None,
        same=outcome.solved and ast.dump(ast.parse(text)) == ast.dump(ast.parse(case.right)),
        held=_held(case) if outcome.solved else "", doubt=report.doubt, patch=report.explanation,
    )  # fmt: skip


def _commit(root: Path) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@example.invalid")
    for args in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        subprocess.run(["git", *who, *args], cwd=root, check=True, env=env, capture_output=True)


def _held(case: Case) -> str:
    """What the held-out tests say; the sources are public releases, and these run outside the sandbox."""
    if not case.held:
        return "none"
    env = {**os.environ, "PYTHONPATH": str(case.root / "src")}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *case.held]
    done = subprocess.run(command, cwd=case.root, env=env, capture_output=True, timeout=300)
    return "pass" if done.returncode == 0 else "fail"


def table(rows: list[Row]) -> str:
    """The rows and what they come to, as Markdown."""
    lines = [
        "| case | end | candidates | s | rank of the function | as the original | held out | warning | patch |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        cells = [r.name, r.end, r.judged, f"{r.seconds:.0f}", r.place or "-", "yes" if r.same else "", r.held]
        cells += [r.doubt, r.patch if r.passes else ""]
        lines.append("| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ")[:160] for c in cells) + " |")
    passing = [r for r in rows if r.passes]
    sure = [r for r in passing if not r.doubt and r.held in ("pass", "fail")]
    near = sum(r.place is not None and r.place <= TOP for r in rows)
    lines += ["", f"{len(passing)} of {len(rows)} pass; {sum(r.same for r in rows)} as the original; "
              f"{sum(r.held == 'pass' for r in passing)} of {sum(r.held in ('pass', 'fail') for r in passing)} with "
              f"held-out tests pass these; without a warning {sum(r.held == 'pass' for r in sure)} of {len(sure)}. "
              f"The function is within the first {TOP} in {near} of {len(rows)}. Median of those that pass "
              f"{statistics.median([r.seconds for r in passing] or [0]):.1f} s."]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print a line per case, then the table."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("kind", choices=["quixbugs", "tasks"])
    asked.add_argument("sources", nargs="+", type=Path)
    asked.add_argument("--only", default="1/1")
    asked.add_argument("--out", type=Path)
    said = asked.parse_args()
    part, parts = map(int, said.only.split("/"))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        made = quixbugs if said.kind == "quixbugs" else tasks
        for number, case in enumerate(made(*said.sources, Path(scratch).resolve())):
            if number % parts == part - 1:
                rows.append(repair(case))
                print(rows[-1], flush=True)
    text = table(rows)
    print(text)
    if said.out:
        said.out.write_text(text)


if __name__ == "__main__":
    main()
