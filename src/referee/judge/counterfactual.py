"""Which functions a patch changes, and whether that is all it changes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from referee.domain.patch import Patch

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Changed(NamedTuple):
    """Lines where changed functions begin in the patched files, by path; `only` if nothing else changed."""

    lines: dict[str, tuple[int, ...]]
    only: bool


def changed(patch: Patch, read: Callable[[str], bytes | None]) -> Changed:
    """Compare the patched files with the unpatched ones, which `read` reads."""
    lines: dict[str, tuple[int, ...]] = {}
    only = True
    for change in patch.changes:
        if change.after is None or not change.path.endswith(".py"):
            only = False
            continue
        try:
            new, old = ast.parse(change.after.data), ast.parse(read(change.path) or b"")
        except (SyntaxError, ValueError, RecursionError):
            only = False
            continue
        before = {name: ast.dump(node) for name, node in _functions(old)}
        unlike = [node for name, node in _functions(new) if before.get(name) != ast.dump(node)]
        if unlike:
            lines[change.path] = tuple(sorted(node.lineno for node in unlike))
        only = only and _rest(new) == _rest(old)
    return Changed(lines, only)


def _functions(tree: ast.Module) -> Iterator[tuple[str, _Function]]:
    """Functions and methods by dotted name, not those within a function."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, owner = waiting.pop()
        for node in ast.iter_child_nodes(owner):
            if isinstance(node, _Function):
                yield f"{prefix}{node.name}", node
            elif isinstance(node, ast.stmt):
                waiting.append((f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix, node))


class _Bare(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [ast.Pass()]
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.body = [ast.Pass()]
        return node


def _rest(tree: ast.Module) -> str:
    """All but the bodies of functions."""
    return ast.dump(_Bare().visit(tree))
