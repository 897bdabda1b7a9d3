"""Which files of the repository a module imports, from the text alone."""

from __future__ import annotations

import ast
import posixpath
from collections import deque
from collections.abc import Callable, Iterable, Iterator


class Modules:
    """The Python files of a tree, found by the names they can be imported under."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_tail: dict[str, list[str]] = {}
        self._imported: dict[str, tuple[str, ...]] = {}
        for path in paths:
            if path.endswith(".py"):
                stem = path.removesuffix(".py").removesuffix("/__init__")
                self._by_tail.setdefault(stem.rpartition("/")[2], []).append(path)

    def find(self, module: str) -> str | None:
        """The file of an absolute module name; the one nearest to the root where several fit."""
        wanted = module.replace(".", "/")
        fitting = [p for p in self._by_tail.get(wanted.rpartition("/")[2], ()) if _ends(p, wanted)]
        return min(fitting, key=lambda p: (p.count("/"), p), default=None)

    def imported(self, path: str, tree: ast.Module) -> tuple[str, ...]:
        """The repository's files that a module at `path` imports, in order."""
        if path not in self._imported:
            found = (self.find(name) for name in dict.fromkeys(_names(path, tree)))
            self._imported[path] = tuple(dict.fromkeys(f for f in found if f is not None and f != path))
        return self._imported[path]

    def closure(self, starts: Iterable[str], load: Callable[[str], ast.Module | None], limit: int) -> tuple[str, ...]:
        """Files reached from `starts` by imports, nearest first, the starts themselves left out."""
        found: dict[str, None] = {}
        first = list(starts)
        queue = deque(first)
        while queue and len(found) < limit:
            path = queue.popleft()
            tree = load(path)
            for other in self.imported(path, tree) if tree is not None else ():
                if other not in found and other not in first:
                    found[other] = None
                    queue.append(other)
        return tuple(found)


def _ends(path: str, wanted: str) -> bool:
    stem = path.removesuffix(".py").removesuffix("/__init__")
    return stem == wanted or stem.endswith(f"/{wanted}")


def _names(path: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(path, node)
            for alias in node.names:
                yield f"{base}.{alias.name}".strip(".")
            if base:
                yield base


def _base(path: str, node: ast.ImportFrom) -> str:
    """The absolute name of what an import starts from."""
    if not node.level:
        return node.module or ""
    package = posixpath.dirname(path)
    for _ in range(node.level - 1):
        package = posixpath.dirname(package)
    return ".".join(filter(None, (package.replace("/", "."), node.module)))
