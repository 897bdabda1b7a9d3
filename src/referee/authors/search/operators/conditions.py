"""Conditions: and/or, negation, a clause too many or too few."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.candidate import Splice
from referee.authors.search.operators.operator import Family, operator
from referee.authors.search.precedence import COMPARE, CONJUNCTION, DISJUNCTION
from referee.authors.search.site import Site, Suggestion

_TESTED = (ast.If, ast.While, ast.IfExp)


def _test(node: ast.AST) -> ast.expr:
    assert isinstance(node, ast.If | ast.While | ast.IfExp)
    return node.test


@operator(Family.CONDITION, 0.75, ast.BoolOp)
def and_or(site: Site) -> Iterator[Suggestion]:
    """`a and b` becomes `a or b`, and the other way round."""
    node = site.node
    assert isinstance(node, ast.BoolOp)
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    splices: list[Splice] = []
    for left, right in zip(node.values, node.values[1:], strict=False):
        for made in site.token(left, right, old, new):
            splices += made.splices
    if len(splices) == len(node.values) - 1:
        yield Suggestion(tuple(splices))


@operator(Family.CONDITION, 0.5, ast.BoolOp)
def fewer_clauses(site: Site) -> Iterator[Suggestion]:
    """`a and b` becomes `a` or `b`."""
    node = site.node
    assert isinstance(node, ast.BoolOp)
    word, level = (" and ", CONJUNCTION) if isinstance(node.op, ast.And) else (" or ", DISJUNCTION)
    for dropped in node.values:
        kept = [v for v in node.values if v is not dropped]
        level = level if len(kept) > 1 else 0
        yield site.replace(node, word.join(site.operand(v, level) for v in kept))


@operator(Family.CONDITION, 0.5, ast.BoolOp)
def negated_clause(site: Site) -> Iterator[Suggestion]:
    """`a and b` becomes `not a and b`."""
    assert isinstance(site.node, ast.BoolOp)
    for value in site.node.values:
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
            yield site.replace(value, site.text(value.operand))
        elif not isinstance(value, ast.Compare):
            yield site.replace(value, f"not {site.operand(value, COMPARE)}")


@operator(Family.CONDITION, 0.65, *_TESTED)
def negated(site: Site) -> Iterator[Suggestion]:
    """`if a:` becomes `if not a:`; comparisons are turned round by another operator."""
    test = _test(site.node)
    if not isinstance(test, ast.UnaryOp | ast.Compare):
        yield site.replace(test, f"not {site.operand(test, COMPARE)}")


@operator(Family.CONDITION, 0.25, *_TESTED)
def always(site: Site) -> Iterator[Suggestion]:
    """A condition becomes True or False."""
    test = _test(site.node)
    for text in ("True", "False"):
        if text != site.text(test):
            yield site.replace(test, text)


@operator(Family.CONDITION, 0.75, ast.While)
def while_name(site: Site) -> Iterator[Suggestion]:
    """`while True:` becomes `while name:` and `while name is not None:`."""
    assert isinstance(site.node, ast.While)
    test = site.node.test
    constant = 1.0 if isinstance(test, ast.Constant) else 0.4
    for name in site.scope.names:
        yield site.replace(test, name, constant)
        yield site.replace(test, f"{name} is not None", 0.5 * constant)


def _by_use(site: Site) -> list[str]:
    """Names of the scope, those used in the statement first."""
    used = [n.id for n in ast.walk(site.stmt) if isinstance(n, ast.Name)]
    return sorted(site.scope.names, key=lambda name: -used.count(name))[:8]


def _clauses(site: Site) -> Iterator[tuple[str, float]]:
    for name in _by_use(site):
        yield f"not {name}", 1.0
        yield f"{name} is None", 0.8
        yield name, 0.8
        yield f"{name} is not None", 0.8
    test = _test(site.node)
    for other in site.scope.conditions:
        if other != site.text(test):
            yield other, 0.6


@operator(Family.CONDITION, 0.4, ast.If, ast.While)
def weaker(site: Site) -> Iterator[Suggestion]:
    """`if a:` becomes `if a or not b:` and the like."""
    test = _test(site.node)
    base = site.operand(test, DISJUNCTION)
    for clause, weight in _clauses(site):
        yield site.replace(test, f"{base} or {clause}", weight)


@operator(Family.CONDITION, 0.4, ast.If, ast.While)
def stronger(site: Site) -> Iterator[Suggestion]:
    """`if a:` becomes `if a and b:` and the like; a test for None or emptiness comes first."""
    test = _test(site.node)
    base = site.operand(test, CONJUNCTION)
    for clause, weight in _clauses(site):
        safe = f"({clause})" if " or " in clause else clause
        if clause.endswith(" is not None") or clause.isidentifier():
            yield site.replace(test, f"{safe} and {base}", weight)
        else:
            yield site.replace(test, f"{base} and {safe}", weight)


@operator(Family.CONDITION, 0.5, ast.IfExp)
def branches(site: Site) -> Iterator[Suggestion]:
    """`a if c else b` becomes `b if c else a`, `a` or `b`."""
    node = site.node
    assert isinstance(node, ast.IfExp)
    yield site.exchange(node.body, node.orelse)
    yield site.replace(node, site.text(node.body), 0.6)
    yield site.replace(node, site.text(node.orelse), 0.6)


@operator(Family.CONDITION, 0.35, ast.If, ast.While)
def keyword(site: Site) -> Iterator[Suggestion]:
    """`if` becomes `while`, `while` becomes `if`, `elif` becomes `if` and `if` after an `if` becomes `elif`."""
    node = site.node
    assert isinstance(node, ast.If | ast.While)
    start = site.source.span(node)[0]
    words = {"while": ("if",), "elif": ("if",), "if": ("while", "elif")}
    for old, news in words.items():
        if site.source.text.startswith(old, start) and not (node.orelse and old != "elif"):
            for new in news:
                yield Suggestion((_word(start, old, new),), 1.0 if new != "elif" else 0.8)


def _word(start: int, old: str, new: str) -> Splice:
    return Splice(start, start + len(old), new)


@operator(Family.CONDITION, 0.35, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
def comprehension_filter(site: Site) -> Iterator[Suggestion]:
    """A comprehension's filter is negated or dropped, or one is added."""
    node = site.node
    assert isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp)
    last = node.generators[-1]
    for test in last.ifs:
        yield site.replace(test, f"not {site.operand(test, COMPARE)}")
        end = site.source.span(test)[1]
        yield Suggestion((Splice(site.source.span(last.iter)[1], end, ""),), 0.7)
    if not last.ifs and isinstance(last.target, ast.Name):
        end = site.source.span(last.iter)[1]
        for clause in (last.target.id, f"{last.target.id} is not None"):
            yield Suggestion((Splice(end, end, f" if {clause}"),), 0.8)


OPERATORS = (
    and_or,
    fewer_clauses,
    negated_clause,
    negated,
    always,
    while_name,
    weaker,
    stronger,
    branches,
    keyword,
    comprehension_filter,
)
