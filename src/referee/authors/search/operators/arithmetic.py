"""Arithmetic: the wrong operator, operand order, grouping, sign."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.operators.operator import Family, operator
from referee.authors.search.precedence import ATOM, parenthesised, required
from referee.authors.search.site import Site, Suggestion

SYMBOL: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitXor: "^", ast.BitAnd: "&", ast.BitOr: "|", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip
ALTERNATIVES = {
    "+": ("-", "*", "|"), "-": ("+", "%", "/"), "*": ("/", "+", "**", "//"), "/": ("//", "*", "%"),
    "//": ("/", "%", "*"), "%": ("//", "/", "-"), "**": ("*",), "^": ("&", "|", "**"), "&": ("|", "^"),
    "|": ("&", "+", "^"), "<<": (">>",), ">>": ("<<",), "@": ("*",),
}  # fmt: skip
_ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.Add)


def _formats(node: ast.BinOp) -> bool:
    """Whether `%` here formats a string."""
    left = node.left
    return isinstance(node.op, ast.Mod) and isinstance(left, ast.Constant) and isinstance(left.value, str)


@operator(Family.ARITHMETIC, 0.8, ast.BinOp)
def arithmetic(site: Site) -> Iterator[Suggestion]:
    """`a + b` becomes `a - b` and so on."""
    node = site.node
    assert isinstance(node, ast.BinOp)
    if _formats(node):
        return
    symbol = SYMBOL[type(node.op)]
    for other in ALTERNATIVES[symbol]:
        yield from site.token(node.left, node.right, symbol, other)


@operator(Family.ARITHMETIC, 0.8, ast.AugAssign)
def augmented(site: Site) -> Iterator[Suggestion]:
    """`a += b` becomes `a -= b` and so on, or `a = b`."""
    node = site.node
    assert isinstance(node, ast.AugAssign)
    symbol = SYMBOL[type(node.op)]
    for other in ALTERNATIVES[symbol]:
        yield from site.token(node.target, node.value, f"{symbol}=", f"{other}=")
    yield from site.token(node.target, node.value, f"{symbol}=", "=", 0.6)


@operator(Family.ARITHMETIC, 0.4, ast.Assign)
def accumulated(site: Site) -> Iterator[Suggestion]:
    """`a = b` becomes `a += b`."""
    node = site.node
    assert isinstance(node, ast.Assign)
    if len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple | ast.List):
        yield from site.token(node.targets[0], node.value, "=", "+=", 1.0 if site.in_loop else 0.5)


@operator(Family.ARITHMETIC, 0.55, ast.BinOp)
def one_operand(site: Site) -> Iterator[Suggestion]:
    """`a + b` becomes `a` or `b`."""
    node = site.node
    assert isinstance(node, ast.BinOp)
    if not _formats(node):
        yield site.replace(node, site.text(node.left))
        yield site.replace(node, site.text(node.right))


@operator(Family.ARITHMETIC, 0.55, ast.BinOp)
def operand_order(site: Site) -> Iterator[Suggestion]:
    """`a - b` becomes `b - a`."""
    node = site.node
    assert isinstance(node, ast.BinOp)
    if not _formats(node) and isinstance(node.op, _ORDERED):
        level = required(node, node.right)
        left, right = site.operand(node.left, level), site.operand(node.right, level)
        yield site.replace(node, f"{right} {SYMBOL[type(node.op)]} {left}")


@operator(Family.ARITHMETIC, 0.45, ast.BinOp)
def grouping(site: Site) -> Iterator[Suggestion]:
    """`a + b / c` becomes `(a + b) / c`, and `(a + b) / c` becomes `a + b / c`."""
    node = site.node
    assert isinstance(node, ast.BinOp)
    outer = SYMBOL[type(node.op)]
    if isinstance(node.right, ast.BinOp):
        inner, third = SYMBOL[type(node.right.op)], site.operand(node.right.right, ATOM)
        first = f"{site.operand(node.left, ATOM)} {outer} {site.operand(node.right.left, ATOM)}"
        yield site.replace(node, f"({first}) {inner} {third}")
    if isinstance(node.left, ast.BinOp):
        inner, first = SYMBOL[type(node.left.op)], site.operand(node.left.left, ATOM)
        last = f"{site.operand(node.left.right, ATOM)} {outer} {site.operand(node.right, ATOM)}"
        yield site.replace(node, f"{first} {inner} {parenthesised(last, required(node.left, node.left.right))}")


@operator(Family.ARITHMETIC, 0.5, ast.UnaryOp)
def sign(site: Site) -> Iterator[Suggestion]:
    """`-a` becomes `a`; `not a` becomes `a`."""
    node = site.node
    assert isinstance(node, ast.UnaryOp)
    yield site.replace(node, site.text(node.operand), 1.4 if isinstance(node.op, ast.Not) else 1.0)


@operator(Family.ARITHMETIC, 0.2, ast.Name)
def squared(site: Site) -> Iterator[Suggestion]:
    """`a` becomes `a ** 2`, `-a` or `abs(a)` where it is part of a calculation."""
    node = site.node
    assert isinstance(node, ast.Name)
    if isinstance(node.ctx, ast.Load) and isinstance(site.parent, ast.BinOp | ast.Compare):
        for text in (f"{node.id}**2", f"-{node.id}", f"abs({node.id})"):
            yield site.replace(node, text)


@operator(Family.ARITHMETIC, 0.3, ast.Name)
def other_term(site: Site) -> Iterator[Suggestion]:
    """`a` becomes `a - b` or `a + b` for a `b` of the scope."""
    node = site.node
    assert isinstance(node, ast.Name)
    if not isinstance(node.ctx, ast.Load) or node.id not in site.scope.names:
        return
    if isinstance(site.parent, ast.Attribute | ast.Subscript) and getattr(site.parent, "value", None) is node:
        return
    if isinstance(site.parent, ast.Call) and site.parent.func is node:
        return
    fitting = [n for n in site.scope.names if n != node.id and site.scope.exchangeable(node.id, n)]
    for other in fitting[:8]:
        for symbol in "-+":
            yield site.replace(node, f"{node.id} {symbol} {other}")


OPERATORS = (
    arithmetic,
    augmented,
    accumulated,
    one_operand,
    operand_order,
    grouping,
    sign,
    squared,
    other_term,
)
