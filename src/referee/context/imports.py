"""Which files of a tree a Python file imports, found without running anything."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence

from referee.context.neighbours import neighbours


class Modules:
    """The Python files of a tree, found by the module they may be."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.paths):
            parts = path.removesuffix(".py").split("/")
            if path.endswith(".py"):
                self._by_name[parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1]].append(path)

    def imported(self, source: bytes, path: str) -> tuple[str, ...]:
        """The paths that the file `path` with the text `source` imports, sorted; () if it does not parse."""
        if not path.endswith(".py"):
            return neighbours(path, source, self.paths)
        package = path.split("/")[:-1]
        found: set[str] = set()
        for node in _imports(source):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found |= self._files(alias.name.split("."))
            else:
                stem = node.module.split(".") if node.module else []
                if node.level:
                    found |= self._relative([*package[: len(package) + 1 - node.level], *stem], node.names)
                else:
                    for alias in node.names:
                        found |= self._files([*stem, alias.name]) or self._files(stem)
        return tuple(sorted(found - {path}))

    def _relative(self, folder: list[str], names: Iterable[ast.alias]) -> set[str]:
        found = {p for n in names for p in self._at([*folder, n.name])}
        return found or self._at(folder)

    def _at(self, module: list[str]) -> set[str]:
        stem = "/".join(module)
        return {p for p in (f"{stem}.py", f"{stem}/__init__.py") if p in self.paths}

    def _files(self, module: list[str]) -> set[str]:
        """The files that may be this module, wherever its root is; the shortest paths if there are several."""
        ends = tuple("/" + "/".join(module) + end for end in (".py", "/__init__.py"))
        found = [p for p in self._by_name.get(module[-1], ()) if ("/" + p).endswith(ends)]
        rooted = self._at(module) | self._at(["src", *module]) | self._at(["lib", *module])
        shortest = min((p.count("/") for p in found), default=0)
        return rooted or {p for p in found if p.count("/") == shortest}


@functools.lru_cache(maxsize=4)
def _modules(paths: tuple[str, ...]) -> Modules:
    return Modules(paths)


def modules(paths: Sequence[str]) -> Modules:
    """The modules of a tree; the same paths are indexed once."""
    return _modules(tuple(paths))


@functools.lru_cache(maxsize=128)
def _imports(source: bytes) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The import statements of a file; every round asks for those of the same few files."""
    tree = parsed(source)
    return tuple(n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)) if tree else ()


def parsed(source: bytes) -> ast.Module | None:
    """The syntax tree, or None."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
