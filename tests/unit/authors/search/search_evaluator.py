"""Judges pure functions in this process: lines are counted, so a loop without end fails like a wrong answer."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

import search_corpus as corpus

from referee.authors.search.candidate import Candidate
from referee.authors.search.survey import Evidence, Survey, Tree, survey
from referee.domain.finding import Finding

MODULE, TESTS = "module.py", "tests/test_module.py"
_MOST_LINES = 20_000


class _Endless(BaseException):
    """Too many lines were executed."""


def check(source: str, expression: str) -> tuple[bool, frozenset[int], Exception | None]:
    """Whether the expression is true of a fresh copy of the module, and which lines ran."""
    lines: set[int] = set()
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if frame.f_code.co_filename != MODULE:
            return None
        count += 1
        if event == "line":
            lines.add(frame.f_lineno)
        if count > _MOST_LINES:
            raise _Endless
        return trace

    namespace: dict[str, Any] = {}
    before = sys.gettrace()
    try:
        exec(compile(source, MODULE, "exec"), namespace)
        sys.settrace(trace)
        return bool(eval(expression, namespace)), frozenset(lines), None
    except _Endless:
        return False, frozenset(lines), TimeoutError("endless")
    except Exception as error:
        return False, frozenset(lines), error
    finally:
        sys.settrace(before)


def test_source(checks: Sequence[str]) -> str:
    """The checks as a test module."""
    return "from module import *\n" + "".join(f"\n\ndef test_{n}():\n    assert {c}\n" for n, c in enumerate(checks))


test_source.__test__ = False  # type: ignore[attr-defined]


def look(case: corpus.Case) -> tuple[Tree, Survey]:
    """What the search sees of a case."""
    failing, passing, targets, findings = [], [], [], []
    for n, expression in enumerate(case.checks):
        good, lines, error = check(case.source, expression)
        pairs = frozenset((MODULE, line) for line in lines)
        if good:
            passing.append(pairs)
            continue
        failing.append(pairs)
        targets.append(f"{TESTS}::test_{n}")
        findings.append(_finding(case, targets[-1], expression, error))
    files = {MODULE: case.source.encode(), TESTS: test_source(case.checks).encode()}
    tree = Tree(paths=tuple(files), read=files.get, allowed=lambda p: p == MODULE)
    evidence = Evidence(
        failing=tuple(failing), passing=tuple(passing), targets=tuple(targets), findings=tuple(findings)
    )
    return tree, survey(tree, evidence)


def _finding(case: corpus.Case, test: str, expression: str, error: Exception | None) -> Finding:
    if error is not None:
        return Finding(check="pytest", id=test, error=type(error).__name__, message=str(error) or "?")
    expected = actual = ""
    node = ast.parse(expression, mode="eval").body
    if isinstance(node, ast.Compare):
        namespace: dict[str, Any] = {}
        exec(compile(case.source, MODULE, "exec"), namespace)
        actual, expected = (repr(eval(ast.unparse(n), namespace)) for n in (node.left, node.comparators[0]))
    return Finding(check="pytest", id=test, error="AssertionError", message="assert", expected=expected, actual=actual)


def passes(case: corpus.Case, tree: Tree, candidate: Candidate) -> bool:
    """Whether every check is true of the module with the candidate applied."""
    source = tree.source(MODULE)
    assert source is not None
    text = candidate.apply(source.text)
    return all(check(text, expression)[0] for expression in case.checks)
