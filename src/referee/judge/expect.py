"""What must be so once the targets are mended, from how they fail now."""

from __future__ import annotations

import ast
from collections.abc import Callable

from referee.judge.evidence import Expected
from referee.judge.stream import Report

_BAD = ("failed", "error", "missing")


def expectation(
    report: Report, named: tuple[str, ...], read: Callable[[str], bytes | None]
) -> tuple[Expected, tuple[str, ...]]:
    """The expectation and the resolved targets; no targets if nothing named fails.

    A file or class stands for all its tests. Of the whole suite only what fails is a target. A module that cannot
    be collected must be, and every test function that its text shows must then pass.
    """
    outcomes = report.outcomes
    files = {
        r["id"]: _functions(read(r["id"]))
        for r in report.collection
        if r["outcome"] == "failed" and r["id"].endswith(".py")
    }
    if report.broken:
        outcomes |= {t: "missing" for t in named if "::" in t and t not in outcomes}
    ids = [t for t, o in outcomes.items() if o in _BAD]
    if named:
        ids = [t for t, o in outcomes.items() if o not in ("skipped", "xfailed", "xpassed") or t in named]
    if not files and all(outcomes[t] not in (*_BAD, "skipped", "xfailed") for t in ids):
        return Expected(), ()
    return Expected(ids=tuple(ids), files=files), (*ids, *files)


def test_seconds(report: Report, most: float) -> float:
    """A generous limit for one test, from how long those that ended took."""
    slow = [
        p.duration_ms / 1000
        for phases in report.phases.values()
        for p in phases
        if p.when == "call" and not (p.raised == "Failed" and p.duration_ms >= most * 1000)
    ]
    return round(min(most, max(1.0, 5 * max(slow, default=most)) + 0.5), 1)


def _functions(source: bytes | None) -> tuple[str, ...]:
    """Test functions and methods that pytest collects by default, as `name` or `Class::name`."""
    try:
        tree = ast.parse(source or b"")
    except (SyntaxError, ValueError):
        return ()
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            found.append(node.name)
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            methods = [n.name for n in node.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
            if "__init__" not in methods:
                found += [f"{node.name}::{m}" for m in methods if m.startswith("test")]
    return tuple(found)
