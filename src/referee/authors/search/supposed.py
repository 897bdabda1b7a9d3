"""What an expression is worth if its names are worth this or that: sums, comparisons and logic, nothing is run.

All else (a name, an attribute, a call) is worth some value that depends only on its text and on what its parts are
worth, so that the same call of the same values is worth the same wherever it stands.
"""

from __future__ import annotations

import ast
import operator
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

_NUMBERS = (int, float)
_LENGTHS = frozenset({"len", "abs", "ord"})
_OF_TWO: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_ORDERS: Mapping[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


class Raised(Exception):
    """The expression would raise what this says."""


class Supposed:
    """One choice of what everything is worth, by `number`, out of `values`. `drawn` says which it was, by text."""

    def __init__(self, values: tuple[Any, ...], number: int) -> None:
        self._values, self._number, self._within = values, number, 0
        self.drawn: dict[str, Any] = {}

    def outcome(self, node: ast.expr, truth: bool) -> Any:
        """The value, or what is raised; only whether it counts as true if that is all that matters."""
        try:
            value = self._value(node)
        except (Raised, ArithmeticError) as error:
            return ("raises", str(error) if isinstance(error, Raised) else type(error).__name__)
        return bool(value) if truth else (type(value).__name__ if isinstance(value, float) else "", value)

    def _value(self, node: Any) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.BinOp(left=left, right=right, op=op):
                return self._reckoned(node, op, self._value(left), self._value(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._value(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand) if isinstance(value := self._value(operand), _NUMBERS):
                return -value
            case ast.BoolOp(op=op, values=values):
                return self._joined(isinstance(op, ast.And), values)
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compared(left, ops, others)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._value(body if self._value(test) else orelse)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return tuple(map(self._value, elts))
            case _:
                return self._some(node)

    def _reckoned(self, node: ast.BinOp, op: ast.operator, left: Any, right: Any) -> Any:
        # Texts and lists are not multiplied or formatted: they could grow without bound.
        if type(op) in _OF_TWO and isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS):
            return _OF_TWO[type(op)](left, right)
        return self._draw(node, (type(op).__name__, left, right), self._values)

    def _joined(self, every: bool, values: Iterable[ast.expr]) -> Any:
        result: Any = None
        for value in values:
            result = self._value(value)
            if bool(result) is not every:
                break
        return result

    def _compared(self, left: ast.expr, ops: Iterable[ast.cmpop], others: Iterable[ast.expr]) -> bool:
        first = self._value(left)
        for op, other in zip(ops, others, strict=True):
            second = self._value(other)
            if not self._holds(op, first, second):
                return False
            first = second
        return True

    def _holds(self, op: ast.cmpop, first: Any, second: Any) -> bool:
        if type(op) in _ORDERS:
            alike = isinstance(first, _NUMBERS) and isinstance(second, _NUMBERS)
            if not alike and not (isinstance(first, str) and isinstance(second, str)):
                raise Raised("TypeError")
            return _ORDERS[type(op)](first, second)
        if isinstance(op, ast.In | ast.NotIn):
            among = first in second if isinstance(second, tuple) else bool(self._draw(None, (first, second), (0, 1)))
            return among is isinstance(op, ast.In)
        return (first == second) is isinstance(op, ast.Eq | ast.Is)

    def _some(self, node: ast.AST) -> Any:
        """What is not reckoned: by its text if that is a name, else by its parts."""
        if _named(node):
            return self._draw(node, ast.unparse(node), self._values)
        self._within += 1
        key = self._parts(node)
        self._within -= 1
        length = isinstance(node, ast.Call) and getattr(node.func, "id", "") in _LENGTHS
        return self._draw(node, key, [v for v in self._values if not length or (type(v) is int and v >= 0)])

    def _parts(self, node: ast.AST) -> tuple[Any, ...]:
        return (type(node).__name__, *(self._part(name, getattr(node, name, None)) for name in node._fields))

    def _part(self, name: str, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(self._part(name, v) for v in value)
        if isinstance(value, ast.expr):
            return bool(self._value(value)) if name in ("test", "ifs") else self._value(value)
        return self._parts(value) if isinstance(value, ast.AST) else value

    def _draw(self, node: ast.AST | None, key: Any, values: Sequence[Any]) -> Any:
        found = values[zlib.crc32(f"{self._number} {key!r}".encode("utf-8", "surrogatepass")) % len(values)]
        if node is not None and not self._within:
            self.drawn[ast.unparse(node)] = found
        return found


def _named(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _named(node.value))
