"""Which files and lines a model should see for a brief, most relevant first."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from referee.context.imports import Modules, modules, parsed
from referee.domain.brief import Brief
from referee.domain.finding import Finding, FindingKind
from referee.domain.value import Value

Read = Callable[[str], bytes | None]

# What a file earns for each reason to show it.
TOUCHED, NAMED, FRAME, FOUND, SUSPECT, IMPORTED, IMPORTED_BY_THAT = 8.0, 6.0, 10.0, 5.0, 6.0, 4.0, 1.0


class Suspect(Value):
    """A place that the failing tests ran and the passing ones did not; `score` from 0 to 1."""

    path: str
    line: int
    score: float


@dataclass
class Interest:
    """Why a file is shown: its weight, and the lines and names in it that matter."""

    weight: float = 0.0
    lines: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)


def interests(brief: Brief, read: Read, paths: Sequence[str], suspects: Sequence[Suspect]) -> dict[str, Interest]:
    """Interest by path, heaviest first, for source files only; the targets' own test files are left out."""
    tree, found = modules(paths), defaultdict[str, Interest](Interest)
    known = tree.paths
    tests = tests_named(brief)
    # A model's opinion never reaches an author (E3).
    for path, line, weight in _places([f for f in brief.findings if f.kind is not FindingKind.OBJECTION]):
        if path in known:
            _add(found[path], weight, line)
    for suspect in suspects:
        if suspect.path in known:
            _add(found[suspect.path], SUSPECT * suspect.score, suspect.line)
    for file in brief.last.files if brief.last else ():
        if file.path in known:
            _add(found[file.path], TOUCHED)
    for path in paths if brief.task.text else ():
        if path.rsplit("/", 1)[-1] in brief.task.text:
            _add(found[path], NAMED)
    _follow_imports(tests, read, tree, found)
    ranked = sorted(found.items(), key=lambda item: (-item[1].weight, item[0]))
    # Rust keeps tests in the sources that they test.
    return {path: interest for path, interest in ranked if path not in tests or path.endswith(".rs")}


def _places(findings: Sequence[Finding]) -> Iterator[tuple[str, int, float]]:
    """Where findings point, and their frames, the innermost weighing most."""
    for item in findings:
        yield item.path, item.line, FOUND
        for depth, frame in enumerate(reversed(item.frames)):
            yield frame.path, frame.line, FRAME / (depth + 1)


def tests_named(brief: Brief) -> dict[str, set[str]]:
    """The targets' test files, and in each the classes and functions that they name."""
    found: dict[str, set[str]] = {}
    for target in brief.targets:
        path, *names = target.partition(" > ")[0].split("::")
        found.setdefault(path, set()).update(name.partition("[")[0] for name in names)
    return found


def _add(interest: Interest, weight: float, line: int = 0) -> None:
    interest.weight += weight
    if line > 0:
        interest.lines.add(line)


def _follow_imports(tests: dict[str, set[str]], read: Read, tree: Modules, found: dict[str, Interest]) -> None:
    """What the failing tests import, and what that imports in turn; the names the tests use matter in both."""
    first: set[str] = set()
    names: set[str] = set()
    for test, wanted in sorted(tests.items()):
        source = read(test) or b""
        first |= set(tree.imported(source, test))
        names |= _used(source, wanted)
    second = {p for path in first for p in tree.imported(read(path) or b"", path)}
    for path in first | second:
        _add(found[path], IMPORTED if path in first else IMPORTED_BY_THAT)
    for interest in found.values():
        interest.names |= names


def _used(source: bytes, wanted: set[str]) -> set[str]:
    """The names that the `wanted` tests use; those of the whole file if none of them is in it."""
    tree = parsed(source) or ast.Module(body=[], type_ignores=[])
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    roots: list[ast.AST] = [f for f in functions if f.name in wanted]
    names: set[str] = set()
    for node in (n for root in roots or [tree] for n in ast.walk(root)):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.alias):
            names.add(node.name)
    return names
