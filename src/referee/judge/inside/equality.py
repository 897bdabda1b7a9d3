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
from collections.abc import Callable, Sequence
from typing import Any

from _pytest.assertion import rewrite

from . import ahead, body
from .callees import NAMED, Callees, Calls
from .disguise import Disguise
from .doubt import Doubts
from .walking import changed, placed

__unittest = True  # frames of this module are left out of what unittest and pytest show
_MARK = "referee's comparison, by operator: "
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq, "NotEq": operator.ne, "In": lambda a, b: a in b,
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"Sub": operator.sub, "Add": operator.add}
Compare = Callable[[Any, Any, bool], Any]
_made: dict[str, Callable[..., Any]] = {}
_texts: dict[str, types.CodeType] = {}
_usual: list[Callable[[str], bool]] = []  # whether a file is a test's; empty where tests are compiled otherwise


def _compared(node: ast.Compare, mocks: bool) -> ast.AST:
    name = type(node.ops[0]).__name__
    if len(node.ops) != 1 or name not in _OPERATORS:
        return node
    return _call(name, node, node.left, node.comparators[0], ast.Constant(mocks, **placed(node)))


def _reckoned(node: ast.Assign) -> None:
    """pytest keeps the parts of an assertion in names of its own: what is reckoned there is looked at too."""
    target, value = node.targets[0], node.value
    asserted = isinstance(target, ast.Name) and target.id.startswith("@py_assert")
    if asserted and isinstance(value, ast.BinOp) and type(value.op).__name__ in _ARITHMETIC:
        node.value = _call(type(value.op).__name__, value, value.left, value.right)


def _call(name: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
    """A call of the judge's own in the place of `at`."""
    where = placed(at)
    # `or` keeps the compiler from warning that text is not callable; it is not text when it is called.
    mark: list[ast.expr] = [ast.Constant(_MARK + name, **where), ast.Constant(None, **where)]
    return ast.Call(ast.BoolOp(ast.Or(), mark, **where), list(arguments), [], **where)


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


def written(text: str, file: str) -> types.CodeType:
    """A text of ours, compiled as if it stood in a test's file; without the judge's comparisons yet."""
    usual = bool(_usual) and _usual[0](file)
    code = _texts.get(text) if usual else None
    if code is None:
        tree = ast.parse(text)
        rewrite.rewrite_asserts(tree, text.encode("ascii"), file)
        code = compile(tree, file, "exec")
        if usual:
            _texts[text] = code
    return code


def foresee(files: Sequence[str], texts: Sequence[str]) -> None:
    """Compile ahead, in a warm process, what no patch can change: tests, and texts of ours. Nothing of it is run."""
    original = rewrite.rewrite_asserts
    told: list[tuple[set[str], bool]] = []

    def rewrite_asserts(tree: ast.Module, source: bytes, *args: Any, **kwargs: Any) -> None:
        original(tree, source, *args, **kwargs)
        if _aliased(tree):
            told.append(_doubting(tree, source))
            body.speak(tree, _call, red=False)

    rewrite.rewrite_asserts = rewrite_asserts  # type: ignore[assignment]
    try:
        for file in files:
            ahead.compiled(file, told)
        for text in texts:
            tree = ast.parse(text)
            rewrite_asserts(tree, text.encode("ascii"), "")
            _texts[text] = compile(tree, "", "exec")
    finally:
        rewrite.rewrite_asserts = original


def _doubting(tree: ast.Module, source: bytes) -> tuple[set[str], bool]:
    """Send what a rewritten tree compares and calls past the judge; the names it calls; whether it deals in mocks."""
    mocks = b"mock" in source or b"ANY" in source
    calls = Calls(tree, _call)

    def after(node: Any) -> Any:
        kind = type(node)
        if kind is ast.Compare:
            return _compared(node, mocks)
        if kind is ast.Call:
            calls.after(node)
        elif kind is ast.Assign:
            _reckoned(node)
        return node

    changed(tree, calls.before, after)
    return calls.asked, mocks


def speaks(code: Any) -> bool:
    """Whether this is the body of a test that says how it ended."""
    return body.speaks(code, [_made[w] for w in (body.ENDED, body.FAIL) if w in _made])


def install(  # noqa: C901 - four short closures
    doubts: Doubts, callees: Callees, red: type[BaseException] | None, disguise: Disguise | None
) -> None:
    """Send what rewritten modules compare, reckon and call, and unittest's comparisons, past those who doubt it.

    Tests say how they end; with `red` every one fails with it. With `disguise` they go by other names.
    """
    original, compiled = rewrite.rewrite_asserts, rewrite._rewrite_test
    _usual.extend([callees.trusted] if red is None and disguise is None else [])
    case: Any = unittest.TestCase
    chosen, almost = case._getAssertEqualityFunc, case.assertAlmostEqual
    liar, bent = doubts.liar, doubts.bent
    _made.update({name: _compare(name, doubts) for name in _OPERATORS})
    _made.update({name: _reckon(compute, bent) for name, compute in _ARITHMETIC.items()})
    _made[NAMED] = callees.checker()
    _made.update(body.words(red or AssertionError))

    def rewrite_asserts(tree: ast.Module, source: bytes, *args: Any, **kwargs: Any) -> None:
        original(tree, source, *args, **kwargs)
        if _aliased(tree):
            path = str(args[0] if args else kwargs.get("module_path"))
            callees.remember(path, *_doubting(tree, source))
            if callees.trusted(path):
                body.speak(tree, _call, red is not None)
            if disguise is not None:
                disguise.move(tree, source)

    def rewrite_test(file: Any, config: Any) -> Any:
        ready = ahead.usable(file, config) if _usual and callees.trusted(str(file)) else None
        if ready is not None:
            callees.remember(str(file), *ready.calls)
            return ready.stat, embedded(ready.code)
        stat, code = compiled(file, config)
        made = embedded(code)
        return stat, made if disguise is None else disguise.rename(made)

    def almost_equal(self: Any, first: Any, second: Any, *args: Any, **kwargs: Any) -> None:
        if bent(first, second):
            raise self.failureException(f"{first!r} is as far from {second!r} as from anything else")
        almost(self, first, second, *args, **kwargs)

    def equality_function(self: Any, first: Any, second: Any) -> Any:
        if liar(first, second, True):
            raise self.failureException(f"{first!r} claims to equal {second!r} and everything else")
        return chosen(self, first, second)

    rewrite.rewrite_asserts = rewrite_asserts  # type: ignore[assignment]
    rewrite._rewrite_test = rewrite_test  # type: ignore[assignment]
    case._getAssertEqualityFunc = equality_function
    case.assertAlmostEqual = almost_equal


def _reckon(compute: Callable[[Any, Any], Any], bent: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    """One operation within an assertion, with no number at all in place of one that is always the same."""

    def reckoned(a: Any, b: Any) -> Any:
        return float("nan") if bent(a, b) else compute(a, b)

    return reckoned


def _compare(name: str, doubts: Doubts) -> Compare:
    """One operator, with False in place of a yes that only a liar gives."""
    liar, holds = doubts.liar, doubts.holds
    compute = _OPERATORS[name]
    opposite = {"Lt": operator.gt, "Gt": operator.lt}.get(name)

    def equal(a: Any, b: Any, mocks: bool) -> Any:
        return False if liar(a, b, mocks) else compute(a, b)

    def different(a: Any, b: Any, mocks: bool) -> Any:
        return True if liar(a, b, mocks) else compute(a, b)

    def member(a: Any, b: Any, mocks: bool) -> Any:
        among = b if type(b) in (list, tuple) else ()
        return False if holds(b, a) or any(liar(a, one, mocks) for one in among[:50]) else compute(a, b)

    def ordered(a: Any, b: Any, mocks: bool) -> Any:
        result = compute(a, b)
        if result is True and opposite is not None and opposite(a, b) is True:
            return False
        return False if result is True and opposite is None and liar(a, b, mocks) else result

    return {"Eq": equal, "NotEq": different, "In": member}.get(name, ordered)
