"""Where modules come from: the workspace's own names from the workspace, always compiled from source, never first."""

from __future__ import annotations

import importlib.machinery
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from _pytest.assertion import rewrite


class Order:
    """The order of top-level imports, whatever `sys.path` says: the project's own names, then everybody else's
    libraries, and only then other files of the workspace.

    The own names come from the unpatched tree, so that they win over an installed copy (case H1) and no file a
    patch adds can stand in for a library, for pytest, or for a test's helper.
    """

    def __init__(self, names: Mapping[str, str], inside: Callable[[str], bool]) -> None:
        self._names, self._inside = names, inside

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec of a top-level module, or None where the usual search decides."""
        if path is not None or name == "conftest" or name.startswith("test_") or name.endswith("_test"):
            return None  # a module inside a package, or a protected file that pytest finds by its folder
        folder = self._names.get(name)
        trusted = [folder] if folder else [p for p in sys.path if not self._inside(p or os.getcwd())]
        spec = importlib.machinery.PathFinder.find_spec(name, trusted)
        return spec if spec is not None and spec.loader is not None else None


def install(names: Mapping[str, str], paths: Sequence[str], inside: Callable[[str], bool]) -> None:
    """Make the workspace importable, in the safe order."""
    sys.meta_path.insert(0, Order(names, inside))
    sys.path += [p for p in paths if p not in sys.path]


def ignore_bytecode(inside: Callable[[str], bool], compiled: Callable[[bytes, str], Any]) -> None:
    """Compile workspace modules from source: a cached file can be stale or planted (case B11).

    `compiled` may have another code for a source and its path; None is the usual one.
    """
    cached = importlib.machinery.SourceFileLoader.get_code
    sourceless = importlib.machinery.SourcelessFileLoader.get_code

    def from_source(self: Any, name: str) -> Any:
        path = self.path
        if not inside(path):
            return cached(self, name)
        source = self.get_data(path)
        return compiled(source, path) or self.source_to_code(source, path)

    def refuse(self: Any, name: str) -> Any:
        if inside(self.path):
            raise ImportError(f"{self.path} has no source next to it", name=name, path=self.path)
        return sourceless(self, name)

    importlib.machinery.SourceFileLoader.get_code = from_source  # type: ignore[method-assign,assignment]
    importlib.machinery.SourcelessFileLoader.get_code = refuse  # type: ignore[method-assign,assignment]
    rewrite._read_pyc = lambda *_args, **_kwargs: None


def imported(root: str, inside: Callable[[str], bool], names: Mapping[str, str]) -> dict[str, Any]:
    """What was imported from the workspace, and which of its names came from somewhere else."""
    own, foreign = set(), {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str):
            continue
        if inside(file):
            own.add(os.path.relpath(file, root))
        elif name.partition(".")[0] in names:
            foreign[name] = file
    return {"own": sorted(own), "foreign": foreign}
