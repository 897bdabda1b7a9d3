"""A test's own word on how it ended, told from inside its body before pytest or anybody else hears of it.

Whoever bends how pytest runs a test or reports it, and puts everything back in time, still has this against them: the
body raised, or never came to its end.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from typing import Any

from .voice import report
from .walking import nodes, placed

RAISED, ENDED, FAIL = "raised", "ended", "fail"
_ELSEWHERE = ("forked", "boxed", "isolate", "isolated")
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def speak(tree: ast.Module, call: Callable[[str, ast.AST], ast.expr], red: bool) -> None:
    """Have the tests of a module say how they end; `call` makes the call of a word in the place of a node.

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


def _wrap(
    node: ast.FunctionDef | ast.AsyncFunctionDef, call: Callable[[str, ast.AST], ast.expr], said: tuple[str, str]
) -> None:
    first, last = said
    kept = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
    body: list[ast.stmt] = node.body[len(kept) :] or [ast.Pass(**placed(node.body[-1]))]
    at, where = node.body[-1], placed(node.body[-1])
    said_first = [ast.Expr(call(first, at), **where), ast.Raise(None, None, **where)] if first else []
    handlers = [ast.ExceptHandler(None, None, said_first, **where)] if first else []
    # `finally`, since a test may return early. A bare `raise` adds nothing to the traceback.
    node.body = [*kept, ast.Try(body, handlers, [], [ast.Expr(call(last, at), **where)], **where)]


def _is_mark(decorator: ast.expr) -> bool:
    """Whether it is one of pytest's marks, and none that has the test run elsewhere."""
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    owner = name.value if isinstance(name, ast.Attribute) else None
    if isinstance(name, ast.Attribute) and name.attr in _ELSEWHERE:
        return False
    return (owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")) == "mark"


def _yields(function: ast.AST) -> bool:
    """Whether this is a generator, not looking into functions within it."""
    within = nodes(function, (*_Function, ast.Lambda, ast.ClassDef))
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in within)
