"""Ways through the syntax of a test module that are quicker than `ast`'s own: suites have many, and each is walked."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

_KINDS = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
_BARE = frozenset(k for base in _KINDS for k in (base, *base.__subclasses__()))  # hold nothing
_LEAVES = _BARE | {ast.Name, ast.Constant, ast.alias, ast.Pass, ast.Import, ast.ImportFrom, ast.Global}


def nodes(tree: ast.AST, closed: tuple[type[ast.AST], ...] = ()) -> Iterator[ast.AST]:
    """Everything in a tree, itself first, not looking into what is `closed`; without operators and contexts."""
    waiting: list[Any] = [tree]
    bare, node_type = _BARE, ast.AST
    while waiting:
        node = waiting.pop()
        yield node
        if closed and isinstance(node, closed) and node is not tree:
            continue
        for value in vars(node).values():
            if type(value) is list:
                waiting += [v for v in value if isinstance(v, node_type)]
            elif isinstance(value, node_type) and type(value) not in bare:
                waiting.append(value)


def changed(node: ast.AST, before: Callable[[Any], None], after: Callable[[Any], Any]) -> ast.AST:
    """The tree with `after` of each node in its place, from within; `before` sees a node before what it holds."""
    leaves, node_type = _LEAVES, ast.AST

    def visit(node: Any) -> Any:
        before(node)
        space = vars(node)
        for name, value in list(space.items()):
            if type(value) is list:
                for n, item in enumerate(value):
                    if isinstance(item, node_type) and type(item) not in leaves:
                        value[n] = visit(item)
            elif isinstance(value, node_type) and type(value) not in leaves:
                space[name] = visit(value)
        return after(node)

    return visit(node)  # type: ignore[no-any-return]


def placed(node: ast.AST) -> dict[str, Any]:
    """Where a node stands, for one that takes its place."""
    return {n: getattr(node, n) for n in ("lineno", "col_offset", "end_lineno", "end_col_offset") if hasattr(node, n)}
