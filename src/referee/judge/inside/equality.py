"""Comparisons that cannot be won by an object that claims to equal everything.

Test modules are compiled by pytest's assertion rewriter; the rewritten tree is walked once more and every single
`a == b` (and `!=`, `in`, `<`, …) becomes a call of the judge's own function. That function is a constant of the
compiled code: there is no name for the code under test to rebind.
"""

from __future__ import annotations

import ast
import operator
import types
import unittest
from collections.abc import Callable
from typing import Any

from _pytest.assertion import rewrite

_MARK = "referee's comparison, by operator: "
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq, "NotEq": operator.ne, "In": lambda a, b: a in b,
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge,
}  # fmt: skip
Compare = Callable[[Any, Any, bool], Any]
_made: dict[str, Compare] = {}


class _Comparisons(ast.NodeTransformer):
    def __init__(self, mocks: bool) -> None:
        self._mocks = mocks

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        name = type(node.ops[0]).__name__
        if len(node.ops) != 1 or name not in _OPERATORS:
            return node
        # `or` keeps the compiler from warning that text is not callable; it is not text when it is called.
        function = ast.BoolOp(ast.Or(), [ast.Constant(_MARK + name), ast.Constant(None)])
        call = ast.Call(function, [node.left, node.comparators[0], ast.Constant(self._mocks)], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def _aliased(tree: ast.Module) -> bool:
    return any(isinstance(n, ast.Import) and any(a.asname == "@pytest_ar" for a in n.names) for n in tree.body)


def embedded(code: types.CodeType) -> types.CodeType:
    """Compiled test code with the judge's comparisons in place of their marks."""
    consts: list[Any] = []
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            consts.append(embedded(const))
        elif isinstance(const, str) and const.startswith(_MARK):
            consts.append(_made[const[len(_MARK) :]])
        else:
            consts.append(const)
    return code.replace(co_consts=tuple(consts))


def install(liar: Callable[[Any, Any, bool], bool]) -> None:
    """Send comparisons of rewritten modules, and unittest's `assertEqual`, past `liar`."""
    original, compiled = rewrite.rewrite_asserts, rewrite._rewrite_test
    case: Any = unittest.TestCase
    chosen = case._getAssertEqualityFunc
    _made.update({name: _compare(name, liar) for name in _OPERATORS})

    def rewrite_asserts(tree: ast.Module, source: bytes, *args: Any, **kwargs: Any) -> None:
        original(tree, source, *args, **kwargs)
        if _aliased(tree):
            _Comparisons(b"mock" in source or b"ANY" in source).visit(tree)

    def rewrite_test(*args: Any, **kwargs: Any) -> Any:
        stat, code = compiled(*args, **kwargs)
        return stat, embedded(code)

    def equality_function(self: Any, first: Any, second: Any) -> Any:
        if liar(first, second, True):
            raise self.failureException(f"{first!r} claims to equal {second!r} and everything else")
        return chosen(self, first, second)

    rewrite.rewrite_asserts = rewrite_asserts  # type: ignore[assignment]
    rewrite._rewrite_test = rewrite_test
    case._getAssertEqualityFunc = equality_function


def _compare(name: str, liar: Callable[[Any, Any, bool], bool]) -> Compare:
    """One operator, with False in place of a yes that only a liar gives."""
    compute = _OPERATORS[name]
    opposite = {"Lt": operator.gt, "Gt": operator.lt}.get(name)

    def equal(a: Any, b: Any, mocks: bool) -> Any:
        return False if liar(a, b, mocks) else compute(a, b)

    def different(a: Any, b: Any, mocks: bool) -> Any:
        return True if liar(a, b, mocks) else compute(a, b)

    def member(a: Any, b: Any, mocks: bool) -> Any:
        among = b if type(b) in (list, tuple) else ()
        return False if any(liar(a, one, mocks) for one in among[:50]) else compute(a, b)

    def ordered(a: Any, b: Any, mocks: bool) -> Any:
        result = compute(a, b)
        if result is True and opposite is not None and opposite(a, b) is True:
            return False
        return False if result is True and opposite is None and liar(a, b, mocks) else result

    return {"Eq": equal, "NotEq": different, "In": member}.get(name, ordered)
