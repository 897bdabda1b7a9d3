"""Off by one: bounds of ranges, indices, lengths and counters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.operators.operator import Family, operator
from referee.authors.search.site import Site, Suggestion

_HOLDERS = (ast.Call, ast.Return, ast.BinOp, ast.Assign, ast.AugAssign, ast.keyword, ast.Tuple, ast.Slice, ast.Compare)


def shifted(node: ast.expr, text: str) -> Iterator[tuple[str, float]]:
    """`text` plus and minus one, simplified where it already ends that way; the likelier first."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.right, ast.Constant):
        amount = node.right.value
        if amount == 1:
            yield text[: text.rindex("+" if isinstance(node.op, ast.Add) else "-")].rstrip(), 1.0
        if isinstance(amount, int):
            return
    loose = isinstance(node, ast.BoolOp | ast.Compare | ast.IfExp | ast.Lambda | ast.NamedExpr)
    inner = f"({text})" if loose else text
    yield f"{inner} + 1", 1.0
    yield f"{inner} - 1", 1.0


def _callee(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


@operator(Family.OFFSET, 0.75, ast.Call)
def range_bound(site: Site) -> Iterator[Suggestion]:
    """`range(n)` becomes `range(n + 1)`, `range(1, n)`, `range(n - 1)`, `range(1, n + 1)`."""
    node = site.node
    assert isinstance(node, ast.Call)
    if _callee(node) != "range" or not node.args or any(isinstance(a, ast.Starred) for a in node.args):
        return
    for bound in node.args[:2]:
        if not isinstance(bound, ast.Constant):
            for text, weight in shifted(bound, site.text(bound)):
                yield site.replace(bound, text, weight)
    if len(node.args) == 1:
        text = site.text(node.args[0])
        yield site.replace(node.args[0], f"1, {text}", 0.8)
        yield site.replace(node.args[0], f"1, {text} + 1", 0.6)


@operator(Family.OFFSET, 0.5, ast.Name, ast.Attribute)
def offset_name(site: Site) -> Iterator[Suggestion]:
    """`a` becomes `a + 1` or `a - 1`."""
    node = site.node
    assert isinstance(node, ast.Name | ast.Attribute)
    if not isinstance(node.ctx, ast.Load) or not isinstance(site.parent, _HOLDERS):
        return
    if isinstance(site.parent, ast.Call) and site.parent.func is node:
        return
    if isinstance(node, ast.Name) and node.id not in site.scope.names:
        return
    for text, weight in shifted(node, site.text(node)):
        yield site.replace(node, text, weight)


@operator(Family.OFFSET, 0.45, ast.BinOp, ast.Call, ast.Subscript)
def offset_expression(site: Site) -> Iterator[Suggestion]:
    """`len(a)` becomes `len(a) - 1`; `a + b` becomes `a + b + 1`."""
    node = site.node
    assert isinstance(node, ast.BinOp | ast.Call | ast.Subscript)
    if not isinstance(site.parent, _HOLDERS) or len(site.text(node)) > 60:
        return
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del) or getattr(site.parent, "func", None) is node:
        return
    for text, weight in shifted(node, site.text(node)):
        yield site.replace(node, text, weight if _counts(node) else 0.6 * weight)


def _counts(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _callee(node) in ("len", "sum", "int", "max", "min", "round")


@operator(Family.OFFSET, 0.5, ast.Subscript)
def offset_index(site: Site) -> Iterator[Suggestion]:
    """`a[i]` becomes `a[i + 1]` or `a[i - 1]`; `a[0]` becomes `a[-1]`."""
    node = site.node
    assert isinstance(node, ast.Subscript)
    index = node.slice
    if isinstance(index, ast.Slice | ast.Tuple) or isinstance(getattr(index, "value", None), str):
        return
    if isinstance(index, ast.Constant):
        if index.value in (0, -1):
            yield site.replace(index, "-1" if index.value == 0 else "0")
        return
    if isinstance(index, ast.UnaryOp) and site.text(index) == "-1":
        yield site.replace(index, "0")
        return
    for text, weight in shifted(index, site.text(index)):
        yield site.replace(index, text, weight)


@operator(Family.OFFSET, 0.3, ast.Call)
def counted_from(site: Site) -> Iterator[Suggestion]:
    """`enumerate(a)` becomes `enumerate(a, 1)`, and the other way round."""
    node = site.node
    assert isinstance(node, ast.Call)
    if _callee(node) == "enumerate" and len(node.args) == 1 and not node.keywords:
        yield site.replace(node, f"enumerate({site.text(node.args[0])}, 1)")
    elif _callee(node) == "enumerate" and node.args:
        yield site.replace(node, f"enumerate({site.text(node.args[0])})")


OPERATORS = (
    range_bound,
    offset_name,
    offset_expression,
    offset_index,
    counted_from,
)
