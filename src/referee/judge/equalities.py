"""Which methods that compare and reckon a patch leaves as they were: those may be as strange as they like."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache

from referee.domain.patch import Patch

_DOUBTED = ("__eq__", "__sub__", "__rsub__", "__contains__")
_NAMES = tuple(name.encode() for name in _DOUBTED)


def unchanged(patch: Patch, read: Callable[[str], bytes | None]) -> tuple[tuple[str, int], ...]:
    """(path, first line in the patched file) of every such method that the unpatched file has; `read` reads that."""
    found = []
    for change in patch.changes:
        if change.after is None or not change.path.endswith(".py"):
            continue
        before = _methods(read(change.path) or b"")
        found += [(change.path, line) for text, line in _methods(change.after.data).items() if text in before]
    return tuple(found)


@lru_cache(maxsize=256)  # what is unpatched is asked about for every candidate
def _methods(source: bytes) -> Mapping[str, int]:
    if not any(name in source for name in _NAMES):
        return {}
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[str, int] = {}
    for owner in ast.walk(tree):
        if not isinstance(owner, ast.ClassDef):
            continue
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and node.name in _DOUBTED:
                # A code object begins at its first decorator.
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                found[f"{owner.name}:{ast.dump(node)}"] = first
    return found
