"""Functions that the judge breaks: what depends on them must notice.

A broken function runs as it is, and then raises what nobody can have expected. It is broken in memory: the file that
the code under test can read is as the patch left it.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any

from .territory import Ask
from .voice import report

_MARK = "referee's sabotage"
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def compiler(
    broken: Mapping[str, Collection[int]], test: Ask, secret: type[BaseException]
) -> Callable[[bytes, str], types.CodeType | None]:
    """A function that compiles the source of a file with the functions at its `broken` lines broken; None: none are."""
    function = _broken(test, secret)

    def compiled(source: bytes, path: str) -> types.CodeType | None:
        if path not in broken:
            return None
        tree = ast.parse(source, path)
        for node in ast.walk(tree):
            if isinstance(node, _Function) and node.lineno in broken[path]:
                _break(node)
        return _embedded(compile(tree, path, "exec", dont_inherit=True), function)

    return compiled


def _broken(test: Ask, secret: type[BaseException]) -> Callable[[], None]:
    frame_of = sys._getframe

    def broken() -> None:
        frame: Any = frame_of(2)
        # Only below a test or a fixture: what a module computes while it is imported stays.
        while frame is not None:
            if test(frame.f_code.co_filename) and frame.f_code.co_name != "<module>":
                report("met", "")
                raise secret("the judge broke this function")
            frame = frame.f_back

    return broken


def _break(node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    call = ast.Expr(ast.Call(ast.BoolOp(ast.Or(), [ast.Constant(_MARK), ast.Constant(None)]), [], []))
    inner = [n for n in ast.walk(node) if isinstance(n, (ast.Yield, ast.YieldFrom))]
    kept = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
    body: list[ast.stmt] = node.body[len(kept) :] or [ast.Pass()]
    # A generator gives its values before it ends, so it must fail before the first.
    made: list[ast.stmt] = [call, *body] if inner else [ast.Try(body, [], [], [call])]
    node.body = [*kept, *(ast.fix_missing_locations(ast.copy_location(m, node.body[0])) for m in made)]


def _embedded(code: types.CodeType, function: Callable[[], None]) -> types.CodeType:
    consts = [
        _embedded(c, function) if isinstance(c, types.CodeType) else function if c == _MARK else c
        for c in code.co_consts
    ]
    return code.replace(co_consts=tuple(consts))
