"""Which files of a tree a Python file imports, found without running anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable


def imported(source: bytes, path: str, paths: frozenset[str]) -> tuple[str, ...]:
    """The paths that the file `path` with the text `source` imports, sorted; () if it does not parse."""
    tree = parsed(source)
    if tree is None:
        return ()
    package = path.split("/")[:-1]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found |= _files(alias.name.split("."), paths)
        elif isinstance(node, ast.ImportFrom):
            stem = node.module.split(".") if node.module else []
            if node.level:
                found |= _exact([*package[: len(package) + 1 - node.level], *stem], node.names, paths)
            else:
                for alias in node.names:
                    found |= _files([*stem, alias.name], paths) or _files(stem, paths)
    return tuple(sorted(found - {path}))


def parsed(source: bytes) -> ast.Module | None:
    """The syntax tree, or None."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _exact(folder: list[str], names: Iterable[ast.alias], paths: frozenset[str]) -> set[str]:
    stem = "/".join(folder)
    found = {p for n in names for p in (f"{stem}/{n.name}.py", f"{stem}/{n.name}/__init__.py") if p in paths}
    return found or {p for p in (f"{stem}.py", f"{stem}/__init__.py") if p in paths}


def _files(module: list[str], paths: frozenset[str]) -> set[str]:
    """The files that may be this module, wherever its root is; the shortest paths if there are several."""
    stem = "/".join(module)
    ends = (f"{stem}.py", f"{stem}/__init__.py")
    direct = {root + end for root in ("", "src/", "lib/") for end in ends if root + end in paths}
    if direct:
        return direct
    found = [p for p in paths if any(p.endswith("/" + end) for end in ends)]
    shortest = min((p.count("/") for p in found), default=0)
    return {p for p in found if p.count("/") == shortest}
