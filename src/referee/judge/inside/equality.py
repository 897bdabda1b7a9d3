"""`==` that cannot be won by an object that claims to equal everything.

Test modules are compiled by pytest's assertion rewriter; the rewritten tree is walked once more and every single
`a == b` becomes `agreed(a, b)`. Where a class of the code under test says yes to a plain value, a second, random
value of the same type is asked about too.
"""

# ruff: noqa: B905, TID251 - the project's Python may be older than zip(strict=); the doubt must be unguessable

from __future__ import annotations

import ast
import random
import unittest
from collections.abc import Callable, Collection
from typing import Any

from _pytest.assertion import rewrite

from .territory import Territory
from .voice import report

_PLAIN = (int, str, float, bool, bytes, complex)
_NAME = "referee_agreed"


class _Equals(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq):
            return node
        function = ast.Attribute(ast.Name("@pytest_ar", ast.Load()), _NAME, ast.Load())
        call = ast.Call(function, [node.left, node.comparators[0]], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def _aliased(tree: ast.Module) -> bool:
    return any(isinstance(n, ast.Import) and any(a.asname == "@pytest_ar" for a in n.names) for n in tree.body)


def install(agreed: Callable[[Any, Any], bool]) -> None:
    """Send every `==` of rewritten modules, and unittest's `assertEqual`, through `agreed`."""
    original, equals = rewrite.rewrite_asserts, unittest.TestCase._baseAssertEqual  # type: ignore[attr-defined]

    def rewrite_asserts(tree: ast.Module, *args: Any, **kwargs: Any) -> None:
        original(tree, *args, **kwargs)
        if _aliased(tree):
            _Equals().visit(tree)

    def base_assert_equal(self: Any, first: Any, second: Any, msg: Any = None) -> None:
        equals(self, first, second, msg)
        if not agreed(first, second):
            raise self.failureException(f"{first!r} claims to equal {second!r} and everything else")

    setattr(rewrite, _NAME, agreed)
    rewrite.rewrite_asserts = rewrite_asserts  # type: ignore[assignment]
    unittest.TestCase._baseAssertEqual = base_assert_equal  # type: ignore[attr-defined]


class Agreement:
    """Compares, and doubts a yes that only the code under test gives."""

    def __init__(self, whose: Territory, honest: Collection[tuple[str, int]]) -> None:
        self._whose, self._honest = whose, honest
        self._random = random.SystemRandom()

    def __call__(self, a: Any, b: Any) -> Any:
        """`a == b`, but False (and told) where the answer is yes to everything."""
        result = a == b
        if result is not True:
            return result
        liar = self._liar(a, b, 0)
        if liar is None:
            return True
        report("tamper", ["always-equal", liar])
        return False

    def _liar(self, a: Any, b: Any, depth: int) -> str | None:
        if a is b or depth > 6:
            return None
        if type(a) in _PLAIN:
            a, b = b, a
        if type(b) in _PLAIN:
            return self._leaf(a, b) if type(a) not in _PLAIN else None
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            pairs = zip(a[:200], b[:200])
        elif isinstance(a, dict) and isinstance(b, dict):
            pairs = ((a[k], b[k]) for k in list(b)[:200] if k in a)  # type: ignore[assignment]
        else:
            return None
        return next((found for x, y in pairs if (found := self._liar(x, y, depth + 1))), None)

    def _leaf(self, claimant: Any, plain: Any) -> str | None:
        own = next((c for c in type(claimant).__mro__ if "__eq__" in c.__dict__), object)
        code = getattr(own.__dict__.get("__eq__"), "__code__", None)
        if code is None or not self._whose.touched(code.co_filename):
            return None
        if (code.co_filename, code.co_firstlineno) in self._honest:
            return None
        denied = type(plain).__eq__(plain, claimant) is False  # type: ignore[call-arg]
        other = self._other(plain)
        try:
            everything = other != plain and bool(claimant == other)
        except Exception:
            everything = False
        return f"{self._whose.relative(code.co_filename)}:{code.co_firstlineno}" if denied or everything else None

    def _other(self, plain: Any) -> Any:
        noise = self._random.getrandbits(40) + 2
        if isinstance(plain, bool):
            return not plain
        if isinstance(plain, str):
            return plain + chr(0xE000) + str(noise)
        if isinstance(plain, bytes):
            return plain + str(noise).encode("ascii")
        return plain + noise
