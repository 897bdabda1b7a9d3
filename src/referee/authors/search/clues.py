"""What the failing tests, their failures and the task text say about where and what to repair."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from referee.authors.search.ingredients import Gathered, expected_exceptions, gather
from referee.authors.search.operators import Family
from referee.authors.search.regions import FUNCTIONS
from referee.domain.finding import Finding

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_QUOTED = re.compile(r"'([^']{1,60})'")
_ABOUT_NAMES = ("KeyError", "AttributeError", "NameError", "UnboundLocalError", "TypeError", "ImportError")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TOO_FEW = re.compile(r"not enough values|empty|out of range")
_NONE = re.compile(r"\bNone(Type)?\b")

_BY_ERROR: dict[str, dict[Family, float]] = {
    "IndexError": {Family.OFFSET: 1.4, Family.SLICE: 1.3, Family.COMPARISON: 1.2, Family.GUARD: 1.3},
    "KeyError": {Family.NAME: 1.2, Family.CALL: 1.2, Family.GUARD: 1.2, Family.STRING: 1.3},
    "AttributeError": {Family.NAME: 1.4, Family.GUARD: 1.2, Family.CALL: 1.2},
    "NameError": {Family.NAME: 1.8},
    "UnboundLocalError": {Family.NAME: 1.4, Family.STATEMENT: 1.4},
    "TypeError": {Family.CALL: 1.4, Family.NAME: 1.1, Family.CONSTANT: 1.1},
    "ValueError": {Family.GUARD: 1.2, Family.SLICE: 1.2, Family.STRING: 1.2, Family.CALL: 1.2},
    "ZeroDivisionError": {Family.GUARD: 1.6, Family.CONDITION: 1.2},
    "RecursionError": {Family.OFFSET: 1.3, Family.CONDITION: 1.3, Family.CALL: 1.2, Family.ARITHMETIC: 1.2},
    "Failed": {Family.GUARD: 1.5, Family.EXCEPTION: 1.5, Family.COMPARISON: 1.2, Family.CONDITION: 1.2},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clues:
    """`words` are identifiers the failing tests and the task text use; `tests` what else the tests mention."""

    words: frozenset[str] = frozenset()
    tests: Gathered = field(default_factory=Gathered)
    emphasis: dict[Family, float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    recent: Mapping[str, frozenset[int]] = field(default_factory=dict)  # lines that the last commits changed
    titles: tuple[str, ...] = ()  # what the failing tests are called, as `_words_of_the_name_`
    subjects: frozenset[str] = frozenset()  # modules that the failing tests' files are called after

    @property
    def errors(self) -> tuple[str, ...]:
        """The kinds of exception that the failures show, without the test framework's own."""
        kinds = (f.error.rpartition(".")[2] for f in self.findings)
        return tuple(dict.fromkeys(k for k in kinds if k.isidentifier() and k not in ("AssertionError", "Failed")))

    @property
    def blamed(self) -> frozenset[str]:
        """Names and keys that the failures quote as missing or unexpected."""
        about = (f for f in self.findings if f.error.rpartition(".")[2] in _ABOUT_NAMES)
        return frozenset(name for f in about for name in _QUOTED.findall(f.message))


def clues(sources: Iterable[tuple[ast.Module, Sequence[str]]], text: str, findings: Sequence[Finding]) -> Clues:
    """Clues from test modules (each with the ids of its failing tests), the task text and the failures."""
    parts: list[ast.AST] = []
    for tree, ids in sources:
        parts += _functions(tree, ids)
    tests = gather(parts)
    tests.exceptions.clear()
    tests.exceptions.update(dict.fromkeys(kind for part in parts for kind in expected_exceptions(part)))
    words = {*tests.names, *tests.every_attribute(), *_WORD.findall(text)}
    for finding in findings:
        words.update(_WORD.findall(finding.message))
    return Clues(words=frozenset(words), tests=tests, emphasis=emphasis(findings), findings=tuple(findings))


def _functions(tree: ast.Module, ids: Sequence[str]) -> list[ast.AST]:
    """The failing test functions; the whole module when they are not found by name."""
    wanted = {i.rpartition("::")[2].partition("[")[0] for i in ids if "::" in i}
    found: list[ast.AST] = [n for n in ast.walk(tree) if isinstance(n, FUNCTIONS) and n.name in wanted]
    return found or [tree]


def named_after(targets: Iterable[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """What the names of tests and of their files say they are about, as `Clues` holds it."""
    titles: dict[str, None] = {}
    subjects: set[str] = set()
    for target in targets:
        path, _, inner = target.partition("::")
        stem = path.rpartition("/")[2].removesuffix(".py").lower()
        subjects.add(stem.removeprefix("test_").removesuffix("_test"))
        for part in inner.partition("[")[0].split("::"):
            titles[f"_{_CAMEL.sub('_', part).lower()}_"] = None
    return tuple(titles), frozenset(subjects - {""})


def emphasis(findings: Sequence[Finding]) -> dict[Family, float]:
    """How much likelier each family of operators is, given how the tests fail."""
    found: dict[Family, float] = {}
    for finding in findings:
        for family, weight in _signs(finding).items():
            found[family] = max(found.get(family, 1.0), weight)
    return found


def _signs(finding: Finding) -> dict[Family, float]:
    kind = finding.error.rpartition(".")[2]
    signs = dict(_BY_ERROR.get(kind, {}))
    if kind in ("AttributeError", "TypeError") and _NONE.search(finding.message):
        signs |= {Family.RETURN: 1.4, Family.GUARD: 1.4}
    if kind in ("ValueError", "IndexError") and _TOO_FEW.search(finding.message):
        signs |= {Family.GUARD: 1.5, Family.CONDITION: 1.4}
    if kind == "AssertionError" and finding.expected:
        signs |= _difference(_value(finding.expected), _value(finding.actual))
    return signs


def _value(text: str) -> object:
    """The value a failure shows, if it is a literal; else the text itself marked as unknown."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ...


def _difference(a: object, b: object) -> dict[Family, float]:
    """What the difference between the two sides of a failed comparison hints at."""
    if a is ... or b is ...:
        return {}
    if a is None or b is None:
        return {Family.RETURN: 1.5, Family.GUARD: 1.2}
    if isinstance(a, bool) or isinstance(b, bool):
        return {Family.COMPARISON: 1.3, Family.CONDITION: 1.4, Family.RETURN: 1.2}
    if isinstance(a, int | float) and isinstance(b, int | float):
        if abs(a - b) == 1:
            return {Family.OFFSET: 1.3, Family.COMPARISON: 1.3}
        return {Family.ARITHMETIC: 1.3, Family.CONSTANT: 1.2}
    if type(a) is not type(b):
        return {Family.CALL: 1.3, Family.RETURN: 1.2}
    if isinstance(a, str):
        return {Family.STRING: 1.5, Family.SLICE: 1.2}
    if isinstance(a, list | tuple | set | dict) and isinstance(b, list | tuple | set | dict) and len(a) != len(b):
        return {Family.SLICE: 1.3, Family.OFFSET: 1.2, Family.COMPARISON: 1.2, Family.CONDITION: 1.1}
    return {}
