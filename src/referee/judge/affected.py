"""Which test files can see what a patch changes, by imports. Unsure means all (D7)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from referee.domain.patch import Patch
from referee.judge.layout import modules_of
from referee.judge.project import Project

WORTH_SELECTING_MS = 4_000  # a suite quicker than this is run whole at once
_DYNAMIC = ("importlib", "__import__", "subprocess", "runpy", "pkgutil")


def test_files(
    project: Project, read: Callable[[str], bytes | None], paths: Sequence[str], patch: Patch
) -> tuple[str, ...]:
    """Test files that import, directly or through other modules, a file the patch changes."""
    python = [p for p in paths if p.endswith(".py")]
    if any(not p.endswith(".py") for p in patch.touched):
        return project.layout.tests
    names = {name: path for path in python for name in modules_of(path, project.layout)}
    uses = {path: _imports(path, read(path) or b"", names, project) for path in python}
    if any(uses[p] is None for p in uses):
        return project.layout.tests
    reached = set(patch.touched)
    while True:
        more = {p for p, used in uses.items() if used and p not in reached and used & reached}
        if not more:
            break
        reached |= more
    if any(p.endswith("conftest.py") for p in reached):
        return project.layout.tests
    return tuple(t for t in project.layout.tests if t in reached)


def _imports(path: str, source: bytes, names: dict[str, str], project: Project) -> set[str] | None:
    """The project's files a module imports; None if that cannot be told."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    own = modules_of(path, project.layout)
    package = own[0] if own else ""
    if not path.endswith("/__init__.py"):
        package = package.rpartition(".")[0]
    wanted: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            wanted.update(a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".") if package else []
            base = parts[: len(parts) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            wanted.update((stem, *(f"{stem}.{a.name}" for a in node.names)))
    if path in project.layout.tests and wanted & set(_DYNAMIC):
        return set(names.values())  # it may reach anything
    found = set()
    for name in wanted:
        while name:
            if name in names:
                found.add(names[name])
            name = name.rpartition(".")[0]
    return found - {path}
