"""When an expression needs parentheses in its new place."""

from __future__ import annotations

import ast
from functools import lru_cache

ATOM = 16
_BOOLEAN = {ast.Or: 3, ast.And: 4}
_BINARY = {
    ast.BitOr: 7, ast.BitXor: 8, ast.BitAnd: 9, ast.LShift: 10, ast.RShift: 10, ast.Add: 11, ast.Sub: 11,
    ast.Mult: 12, ast.Div: 12, ast.FloorDiv: 12, ast.Mod: 12, ast.MatMult: 12, ast.Pow: 14,
}  # fmt: skip
COMPARE = 6
NEGATION = 5
CONJUNCTION = 4
DISJUNCTION = 3
_SIGN = 13
# A tuple without parentheses binds least of all.
_OTHER = {
    ast.Tuple: -1, ast.NamedExpr: 0, ast.Yield: 0, ast.YieldFrom: 0, ast.Starred: 0, ast.Lambda: 1, ast.IfExp: 2,
    ast.Compare: COMPARE, ast.Await: 15,
}  # fmt: skip
_PLACES: dict[type[ast.AST] | type[None], int] = {
    ast.Attribute: ATOM, ast.Await: ATOM, ast.Starred: 7, ast.IfExp: DISJUNCTION, ast.comprehension: DISJUNCTION,
    ast.Call: 0, ast.keyword: 0, ast.List: 0, ast.Set: 0, ast.Dict: 0, ast.Tuple: 0, ast.ListComp: 0,
}  # fmt: skip


def binding(node: ast.expr) -> int:
    """How tightly the outermost operator of `node` binds, from the language reference's table."""
    match node:
        case ast.BoolOp(op=op):
            return _BOOLEAN[type(op)]
        case ast.BinOp(op=op):
            return _BINARY[type(op)]
        case ast.UnaryOp(op=op):
            return NEGATION if isinstance(op, ast.Not) else _SIGN
        case _:
            return _OTHER.get(type(node), ATOM)


def required(parent: ast.AST | None, node: ast.AST) -> int:
    """How tightly an expression in the place of `node` must bind to stay in one piece."""
    match parent:
        case ast.BinOp(left=left, op=op):
            return _BINARY[type(op)] + (left is not node or isinstance(op, ast.Pow))
        case ast.BoolOp() | ast.UnaryOp():
            return binding(parent)
        case ast.Compare():
            return COMPARE + 1
        case ast.Subscript(value=first) | ast.Call(func=first) if first is node:
            return ATOM
        case _:
            return _PLACES.get(type(parent), -1)


def parenthesised(text: str, level: int) -> str:
    """`text` of an expression, in parentheses if it binds less tightly than `level`."""
    return f"({text})" if level >= 0 and _binding_of(text) < level else text


@lru_cache(maxsize=4_096)
def _binding_of(text: str) -> int:
    if text.isidentifier():
        return ATOM
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return -1
    return ATOM if isinstance(node, ast.Tuple) and text.startswith("(") else binding(node)
