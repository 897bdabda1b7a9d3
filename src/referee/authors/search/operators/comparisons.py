"""Comparisons: the wrong operator, the wrong bound, operands the wrong way round."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.operators.operator import Family, operator
from referee.authors.search.precedence import COMPARE
from referee.authors.search.site import Site, Suggestion

SYMBOL: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
# Likeliest first: the boundary, the direction, then the rest.
ALTERNATIVES = {
    "<": ("<=", ">", ">=", "!="), "<=": ("<", ">=", ">", "=="), ">": (">=", "<", "<=", "!="),
    ">=": (">", "<=", "<", "=="), "==": ("!=", "<=", ">=", "is", "in", "<", ">"), "!=": ("==", "<", ">", "is not"),
    "is": ("is not", "=="), "is not": ("is", "!="), "in": ("not in", "=="), "not in": ("in", "!="),
}  # fmt: skip
_ORDERED = ("<", "<=", ">", ">=", "==", "!=")


def _pairs(node: ast.Compare) -> Iterator[tuple[ast.expr, str, ast.expr]]:
    for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
        yield left, SYMBOL[type(op)], right


@operator(Family.COMPARISON, 1.0, ast.Compare)
def comparison(site: Site) -> Iterator[Suggestion]:
    """`a < b` becomes `a <= b` and so on."""
    assert isinstance(site.node, ast.Compare)
    for left, symbol, right in _pairs(site.node):
        for rank, other in enumerate(ALTERNATIVES[symbol]):
            yield from site.token(left, right, symbol, other, 1.0 if rank < 2 else 0.8)


@operator(Family.OFFSET, 0.5, ast.Compare)
def comparison_bound(site: Site) -> Iterator[Suggestion]:
    """`a < 3` becomes `a < 4` or `a <= 2`; the operator and the bound move together."""
    assert isinstance(site.node, ast.Compare)
    for _, symbol, right in _pairs(site.node):
        if symbol not in _ORDERED or not isinstance(right, ast.Constant) or type(right.value) is not int:
            continue
        for value in (right.value + 1, right.value - 1):
            yield site.replace(right, str(value))


@operator(Family.COMPARISON, 0.3, ast.Compare)
def comparison_operands(site: Site) -> Iterator[Suggestion]:
    """`a in b` becomes `b in a`; for ordered comparisons this is another operator."""
    node = site.node
    assert isinstance(node, ast.Compare)
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
        yield site.exchange(node.left, node.comparators[0])


@operator(Family.GUARD, 0.5, ast.Compare)
def none_comparison(site: Site) -> Iterator[Suggestion]:
    """`a.b is None` becomes `a is None or a.b is None`, or `not a.b`; `a is not None` becomes `a`."""
    node = site.node
    assert isinstance(node, ast.Compare)
    left, right = node.left, node.comparators[0]
    if len(node.ops) != 1 or not (isinstance(right, ast.Constant) and right.value is None):
        return
    positive = isinstance(node.ops[0], ast.Is | ast.Eq)
    base: ast.expr = left
    while isinstance(base, ast.Attribute | ast.Subscript):
        base = base.value
        if positive:
            yield site.replace(node, f"{site.text(base)} is None or {site.text(node)}")
        else:
            yield site.replace(node, f"{site.text(base)} is not None and {site.text(node)}")
    operand = site.operand(left, COMPARE)
    yield site.replace(node, f"not {operand}" if positive else operand, 0.6)


@operator(Family.CONDITION, 0.4, ast.Compare)
def chained_bound(site: Site) -> Iterator[Suggestion]:
    """`a <= b` gains the other end: `0 <= a <= b`."""
    node = site.node
    assert isinstance(node, ast.Compare)
    if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Lt | ast.LtE):
        return
    left = site.operand(node.left, COMPARE + 1)
    for low in ("0 <= ", "0 < "):
        yield site.replace(node, f"{low}{site.text(node).replace(site.text(node.left), left, 1)}", 0.6)


@operator(Family.CALL, 0.35, ast.Call)
def instance_kinds(site: Site) -> Iterator[Suggestion]:
    """`isinstance(x, list)` becomes `isinstance(x, (list, tuple))` and the like."""
    node = site.node
    assert isinstance(node, ast.Call)
    if not (isinstance(node.func, ast.Name) and node.func.id == "isinstance" and len(node.args) == 2):
        return
    kinds = node.args[1]
    for other in ("(list, tuple)", "str", "(str, bytes)", "(int, float)", "dict", "list"):
        if other != site.text(kinds):
            yield site.replace(kinds, other)


OPERATORS = (
    comparison,
    comparison_bound,
    comparison_operands,
    none_comparison,
    chained_bound,
    instance_kinds,
)
