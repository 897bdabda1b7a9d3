"""Which files and lines a model should see for a brief, most relevant first."""

from __future__ import annotations

import ast
import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from referee.context.imports import Modules, modules, parsed
from referee.context.ranking import bm25, fused, words
from referee.domain.brief import Brief
from referee.domain.finding import Finding, FindingKind
from referee.domain.protection import Protection
from referee.domain.value import Value

Read = Callable[[str], bytes | None]

LEXICAL = 5  # files that only share words with the question
CLOSE = 0.5  # of the best one's score
SOURCE = (".py", ".pyi", ".js", ".jsx", ".ts", ".tsx", ".go", ".rs", ".c", ".h", ".java", ".rb", ".sh")
MOST_READ = 400  # files whose words are counted; in a larger tree, those that the tests lead to
MOST_BYTES = 200_000
_RULES = Protection()


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
    """Interest by path, most interesting first, for source files only; the targets' own test files are left out.

    Several rankings are fused: where the failure points, what only failing tests run, how near in imports a file is to
    the failing tests, the words it shares with task, tests and failure, what was changed last, and what the task names.
    """
    tree, found = modules(paths), defaultdict[str, Interest](Interest)
    tests = tests_named(brief)
    points, suspected = defaultdict[str, float](float), defaultdict[str, float](float)
    # A model's opinion never reaches an author (E3).
    for path, line, weight in _places([f for f in brief.findings if f.kind is not FindingKind.OBJECTION]):
        if path in tree.paths:
            points[path] += weight
            _add(found[path], line)
    for suspect in suspects:
        if suspect.path in tree.paths:
            suspected[suspect.path] += suspect.score
            _add(found[suspect.path], suspect.line)
    near = _near(tests, read, tree, found)
    touched = [f.path for f in brief.last.files if f.path in tree.paths] if brief.last else []
    named = [p for p in paths if p.rsplit("/", 1)[-1] in brief.task.text] if brief.task.text else []
    sharing = _sharing(brief, read, paths, [*points, *suspected, *near])
    scores = fused([_ranked(points), _ranked(suspected), near, touched, named, sharing])
    for path, score in scores.items():
        found[path].weight = score
    # Rust keeps tests in the sources that they test.
    return {path: found[path] for path in scores if path not in tests or path.endswith(".rs")}


def _ranked(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda path: (-scores[path], path))


def _sharing(brief: Brief, read: Read, paths: Sequence[str], led_to: Sequence[str]) -> list[str]:
    """Files that share the most telling words with the task, the failing tests and the failure."""
    asked = [brief.task.text, brief.feedback, *brief.targets]
    for test, wanted in tests_named(brief).items():
        asked += sorted(_used(read(test) or b"", frozenset(wanted)))
    question = words("\n".join(asked))
    source = _source(tuple(paths))
    files = {}
    for path in source if len(source) <= MOST_READ else sorted(set(led_to)):
        data = read(path)
        if data and len(data) <= MOST_BYTES and b"\0" not in data:
            files[path] = words(path) + _words_of(data)
    scores = bm25(question, files)
    best = max(scores.values(), default=0.0)
    return [path for path, score in scores.items() if score >= CLOSE * best][:LEXICAL]


@functools.lru_cache(maxsize=4)
def _source(paths: tuple[str, ...]) -> tuple[str, ...]:
    """The files that a proposal may be about; every round asks the same of the same tree."""
    return tuple(p for p in paths if p.endswith(SOURCE) and not _RULES.guarded(p))


@functools.lru_cache(maxsize=1024)
def _words_of(data: bytes) -> Counter[str]:
    return words(data.decode(errors="replace"))


def _places(findings: Sequence[Finding]) -> Iterator[tuple[str, int, float]]:
    """Where findings point, and their frames, the innermost weighing most."""
    for item in findings:
        yield item.path, item.line, 0.5
        for depth, frame in enumerate(reversed(item.frames)):
            yield frame.path, frame.line, 1 / (depth + 1)


def tests_named(brief: Brief) -> dict[str, set[str]]:
    """The targets' test files, and in each the classes and functions that they name."""
    found: dict[str, set[str]] = {}
    for target in brief.targets:
        path, *names = target.partition(" > ")[0].split("::")
        found.setdefault(path, set()).update(name.partition("[")[0] for name in names)
    return found


def _add(interest: Interest, line: int) -> None:
    if line > 0:
        interest.lines.add(line)


def _near(tests: dict[str, set[str]], read: Read, tree: Modules, found: dict[str, Interest]) -> list[str]:
    """What the failing tests import, nearest first, two steps far; the names the tests use matter in all of it."""
    first: set[str] = set()
    names: set[str] = set()
    for test, wanted in sorted(tests.items()):
        source = read(test) or b""
        first |= set(tree.imported(source, test))
        names |= _used(source, frozenset(wanted))
    second = {p for path in first for p in tree.imported(read(path) or b"", path)}
    for path in first | second:
        found[path].names |= names
    for interest in found.values():
        interest.names |= names
    return [*sorted(first), *sorted(second - first)]


@functools.lru_cache(maxsize=64)
def _used(source: bytes, wanted: frozenset[str]) -> frozenset[str]:
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
    return frozenset(names)
