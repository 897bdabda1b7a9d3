"""A test's own word on how it ended, told from inside its body before pytest or anybody else hears of it.

Whoever bends how pytest runs a test or reports it, and puts everything back in time, still has this against them: the
body raised, or never came to its end.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from typing import Any

from .voice import report

RAISED, ENDED, FAIL = "raised", "ended", "fail"
_ELSEWHERE = ("forked", "boxed", "isolate", "isolated")
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def speak(tree: ast.Module, call: Callable[[str], ast.expr], red: bool) -> None:
    """Have the tests of a module say how they end; `call` makes the call of a word.

    `red`: every test fails at its end, whatever it found. Tests that somebody else may run more than once or swallow
    (decorated, asynchronous) say nothing, but fail with the others.
    """
    owners: list[ast.Module | ast.ClassDef] = [tree]
    while owners:
        owner = owners.pop()
        for node in owner.body:
            if isinstance(node, ast.ClassDef):
                owners.append(node)
            elif isinstance(node, _Function) and node.name.startswith("test") and not _yields(node):
                plain = isinstance(node, ast.FunctionDef) and all(map(_is_mark, node.decorator_list))
                if plain or red:
                    _wrap(node, call, (RAISED if plain else "", FAIL if red else ENDED))


def words(red: type[BaseException]) -> dict[str, Callable[[], None]]:
    """What each word does when a test's body says it."""

    def raised() -> None:
        report("body", RAISED)

    def ended() -> None:
        report("body", ENDED)

    def fail() -> None:
        report("met", FAIL)
        raise red("the judge failed this test at its end")

    return {RAISED: raised, ENDED: ended, FAIL: fail}


def speaks(code: Any, said: Collection[Any]) -> bool:
    """Whether this code says one of the words itself."""
    return any(c is word for c in getattr(code, "co_consts", ()) for word in said)


def _wrap(node: ast.FunctionDef | ast.AsyncFunctionDef, call: Callable[[str], ast.expr], said: tuple[str, str]) -> None:
    first, last = said
    kept = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
    body: list[ast.stmt] = node.body[len(kept) :] or [ast.Pass()]
    handler = ast.ExceptHandler(None, None, [ast.Expr(call(first)), ast.Raise(None, None)]) if first else None
    # `finally`, since a test may return early. A bare `raise` adds nothing to the traceback.
    whole = ast.Try(body, [handler] if handler else [], [], [ast.Expr(call(last))])
    node.body = [*kept, ast.fix_missing_locations(ast.copy_location(whole, node.body[-1]))]


def _is_mark(decorator: ast.expr) -> bool:
    """Whether it is one of pytest's marks, and none that has the test run elsewhere."""
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    owner = name.value if isinstance(name, ast.Attribute) else None
    if isinstance(name, ast.Attribute) and name.attr in _ELSEWHERE:
        return False
    return (owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")) == "mark"


def _yields(function: ast.AST) -> bool:
    """Whether this is a generator, not looking into functions within it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*_Function, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False
