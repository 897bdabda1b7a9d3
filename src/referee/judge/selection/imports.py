"""Which files of a project use which, from their text alone."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from referee.judge.layout import Layout, modules_of

_DYNAMIC = frozenset(("importlib", "__import__", "runpy", "pkgutil"))
_PROCESSES = frozenset(("subprocess", "multiprocessing", "pexpect"))
_LIVELY = frozenset(("import_module", "__import__", "run_module", "run_path", "walk_packages", "iter_modules"))


class Imports:
    """The imports of a tree's Python files, each in all the versions there are of it (None: it cannot be read).

    A file of which it cannot be told may use any other.
    """

    def __init__(self, files: Mapping[str, Sequence[ast.Module | None]], layout: Layout) -> None:
        self._layout = layout
        self._files = frozenset(files)
        self._beside_tests = tuple({t.rpartition("/")[0] for t in layout.tests})
        self._names = {name: path for path in files for name in modules_of(path, layout)}
        for name, folder in layout.names.items():
            for path in (f"{folder}/{name}.py".lstrip("/"), f"{folder}/{name}/__init__.py".lstrip("/")):
                if path in self._files:
                    self._names.setdefault(name, path)
        self._users: dict[str, set[str]] = {}
        told = {path: [self._learn(path, tree) for tree in trees] for path, trees in files.items()}
        self.anything = frozenset(path for path, each in told.items() if not all(each))

    def reaching(self, paths: Collection[str]) -> frozenset[str]:
        """The files, and all that import them directly or through others, or may do so."""
        reached = {*paths, *self.anything} if paths else set()
        waiting = list(reached)
        while waiting:
            for user in self._users.get(waiting.pop(), ()):
                if user not in reached:
                    reached.add(user)
                    waiting.append(user)
        return frozenset(reached)

    def _learn(self, path: str, tree: ast.Module | None) -> bool:
        """Note what a file uses; False if it may use anything."""
        if tree is None:
            return False
        for name in self._wanted(path, tree):
            for found in self._found(path, name):
                self._users.setdefault(found, set()).add(path)
        return not self._lively(path, tree)

    def _lively(self, path: str, tree: ast.Module) -> bool:
        """Whether it may import what its text does not name, or be of the tests and start another interpreter."""
        folder = path.rpartition("/")[0]
        test = path in self._layout.tests or (folder != "" and folder in self._beside_tests)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in _LIVELY:
                return True
            if isinstance(node, ast.Attribute) and node.attr in _LIVELY:
                return True
            if test and isinstance(node, (ast.Import, ast.ImportFrom)):
                tops = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                if {t.partition(".")[0] for t in tops} & (_DYNAMIC | _PROCESSES):
                    return True
        return False

    def _wanted(self, path: str, tree: ast.Module) -> Iterator[str]:
        own = modules_of(path, self._layout)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (a.name for a in node.names)
            elif isinstance(node, ast.ImportFrom):
                for package in own if node.level else ("",):
                    if not path.endswith("/__init__.py") and path != "__init__.py":
                        package = package.rpartition(".")[0]
                    parts = package.split(".") if package else []
                    base = parts[: len(parts) - node.level + 1] if node.level else []
                    stem = ".".join([*base, *([node.module] if node.module else [])])
                    yield stem
                    yield from (f"{stem}.{a.name}" for a in node.names)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and self._dotted(node.value):
                yield node.value  # named as text: for a loader, for a mock

    def _dotted(self, text: str) -> bool:
        top, dot, _ = text.partition(".")
        return bool(dot) and top in self._names and all(part.isidentifier() for part in text.split("."))

    def _found(self, path: str, name: str) -> Iterator[str]:
        """The file of a module, those of the packages it is in, and what lies beside the importing file."""
        folder = path.rpartition("/")[0]
        while name:
            if name in self._names:
                yield self._names[name]
            relative = name.replace(".", "/")
            for place in (f"{folder}/{relative}", relative):
                for candidate in (f"{place}.py".lstrip("/"), f"{place}/__init__.py".lstrip("/")):
                    if candidate in self._files and candidate != path:
                        yield candidate
            name = name.rpartition(".")[0]
