"""Which tests selection leaves out, and whether it ever leaves out one that a change would have shown.

Run `python benchmarks/selection.py ROOT... [--changes N] [--seed N]`; each ROOT is an unpacked project with pytest
tests and a `.venv` to run them with, which is left as it is. Every change is judged twice: by the whole suite, and by
what selection chooses. Bars: no change of any outcome among the tests left out; at most 10 % of tests at the median.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from referee.actions.execute import Execute
from referee.actions.tree import PrepareBase, TakeSnapshot
from referee.adapters.store import MemoryStore
from referee.config import load
from referee.domain.cost import Budget
from referee.domain.patch import FileContent, Patch, patch_of
from referee.judge import plan, stream
from referee.judge.affected import affected
from referee.judge.bench import Bench
from referee.judge.evidence import Known
from referee.judge.plan import TestRun
from referee.judge.selection.compare import Tree, changes_of, code_of
from referee.judge.selection.record import record
from referee.judge.selection.rules import select
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.wiring import Desk

SECONDS = 600.0
Edit = tuple[str, int, int, str]  # kind, from and to in the source, what to put there


def main() -> int:
    """Measure every project; 1 if a bar is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("roots", nargs="+")
    parser.add_argument("--changes", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    return max(measure(Path(root).resolve(), asked.changes, asked.seed) for root in asked.roots)


def measure(root: Path, count: int, seed: int) -> int:
    """One project: its map, then each change."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / root.name
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".venv", ".git", ".harness"))
        (copy / ".gitignore").write_text(".harness/\n")
        subprocess.run(["git", "init", "-q", str(copy)], check=True)
        config = load(str(copy), flags={"python": str(root / ".venv")}, variables={}, user_file="")
        with Desk(str(copy), config) as desk:
            store = MemoryStore()
            store.create("now", "{}", "")
            journal = Journal(store, store.claim("now", "benchmark", desk.clock.now(), SECONDS * 100), desk.clock)
            run = Run(Shared(run_id="now", world=desk, journal=journal, store=store, tell=None), Budget(timeout=6e5))
            tree = run.perform(TakeSnapshot(run_id="now", settled=False)).tree
            base = run.perform(PrepareBase(tree=tree, protection=config.protection))
            settings = desk.settings().model_copy(update={"suite_seconds": SECONDS, "test_seconds": 10.0})
            bench = Bench(project=desk.project(tree), base=base, settings=settings)
            return changes(run, bench, count, random.Random(seed))


def changes(run: Run, bench: Bench, count: int, chance: random.Random) -> int:
    """Compare and print."""
    whole, took = outcomes(run, bench, Patch())
    again, _ = outcomes(run, bench, Patch())
    steady = {t for t, o in whole.items() if again.get(t) == o}
    made = record(run, bench.project, bench.base, bench.settings)
    bench = bench.model_copy(update={"known": Known(outcomes=whole)})
    size = len(made.reached.to_text())
    print(f"\n{bench.project.root.rpartition('/')[2]}: {len(whole)} tests in {took / 1000:.1f} s; ", end="")
    print(f"map in {made.duration_ms / 1000:.1f} s ({size >> 10} KiB), {len(made.reached.always)} tests always")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'change':52}{'imports':>9}{'chosen':>8}{'differ':>8}{'missed':>8}", flush=True)
    shares, broad, missed, telling = [], [], 0, 0
    for name, patch in edits(run, bench, count, chance):
        chosen, wide = {*affected(run, bench, patch).tests}, by_imports(run, bench, patch)
        now, _ = outcomes(run, bench, patch)
        if not now:
            print(f"{name[:51]:52}  its tests do not come to an end")
            continue
        unlike = {t for t in steady if now.get(t, "missing") != whole[t]}
        shares.append(len(chosen) / len(whole))
        broad.append(len(wide) / len(whole))
        missed += bool(unlike - chosen)
        telling += bool(unlike)
        print(f"{name[:51]:52}{broad[-1]:9.1%}{shares[-1]:8.1%}{len(unlike):8}{len(unlike - chosen):8}", flush=True)
        for test in sorted(unlike - chosen)[:3]:
            print(f"    missed: {test} was {whole[test]}, is {now.get(test, 'missing')}")
    middle = statistics.median(shares)
    print(f"{len(shares)} changes, {telling} of them seen by some test, {missed} with a miss (bar 0)")
    print(f"share of tests, median {middle:.1%} (bar 10 %), mean {statistics.mean(shares):.1%}; ", end="")
    print(f"by imports alone {statistics.median(broad):.1%}")
    return int(missed > 0 or middle > 0.1)


def by_imports(run: Run, bench: Bench, patch: Patch) -> set[str]:
    """What would be chosen without a map."""
    base, layout = bench.base.tree, bench.project.layout
    tree = Tree(run.paths(base), lambda p: run.read(base, p), patch)
    known = tuple(bench.known.outcomes)
    return {*select(changes_of(tree, base, None), code_of(tree, layout), known, None).chosen(known)}


def outcomes(run: Run, bench: Bench, patch: Patch) -> tuple[dict[str, str], int]:
    """What the whole suite does, and how many milliseconds it takes; nothing if it does not come to its end."""
    what = TestRun(full=False, test_seconds=bench.settings.test_seconds)
    ended = run.perform(Execute(command=plan.command(bench.project, bench.base, patch, what, SECONDS)))
    report = stream.read(ended.channel, ended.key)
    return {} if report.broken else report.outcomes, ended.duration_ms


def edits(run: Run, bench: Bench, count: int, chance: random.Random) -> Iterator[tuple[str, Patch]]:
    """Different changes to the code, most of them inside functions: half of the rest where modules are made."""
    tree, guarded = bench.base.tree, bench.base.protected
    paths = [p for p in run.paths(tree) if p.endswith(".py") and not p.startswith(guarded)]
    packages = {p.rpartition("/")[0] for p in paths if p.endswith("/__init__.py")}
    found: dict[str, list[tuple[str, bytes, Edit]]] = {}
    for path in [p for p in paths if p.rpartition("/")[0] in packages]:
        source = run.read(tree, path) or b""
        for edit in possible(source):
            found.setdefault(edit[0], []).append((path, source, edit))
    for _ in range(count):
        kind = chance.choices([*found], [{"body": 80, "module": 8, "rename": 6, "comment": 6}[k] for k in found])[0]
        path, source, (_, start, end, text) = chance.choice(found[kind])
        line = source.count(b"\n", 0, start) + 1
        data = source[:start] + text.encode() + source[end:]
        yield f"{kind:8}{path}:{line}", patch_of({path: FileContent(data=data)})


def possible(source: bytes) -> Iterator[Edit]:
    """Every single change to a file that this benchmark knows."""
    tree, starts = ast.parse(source), [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    inside = {
        id(n)
        for f in ast.walk(tree)
        if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))
        for statement in f.body
        for n in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and id(node) not in inside:
            at = source.index(b"def ", starts[node.lineno - 1]) + 4
            yield "rename", at, at + len(node.name), f"{node.name}_gone"
            yield "comment", starts[node.lineno - 1], starts[node.lineno - 1], "# a remark\n"
        text = other(node)
        if text is not None and hasattr(node, "end_col_offset"):
            kind = "body" if id(node) in inside else "module"
            first, last = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
            yield kind, first, last, text


def other(node: ast.AST) -> str | None:
    """Another text for a piece of code; None for pieces that are left alone."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return f"(not ({ast.unparse(node)}))"
    if isinstance(node, ast.BoolOp):
        joint = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        return f"({ast.unparse(ast.BoolOp(joint, node.values))})"
    if isinstance(node, ast.Return) and node.value is not None:
        return "return None"
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return str(node.value + 1)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return str(not node.value)
    if isinstance(node, ast.Raise):
        return "pass"
    return None


if __name__ == "__main__":
    raise SystemExit(main())
