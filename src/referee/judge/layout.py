"""Where a Python project keeps its code and its tests, from paths alone."""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from referee.domain.value import Value

_RESERVED = frozenset(("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "conftest", "setup"))


class Layout(Value):
    """`roots` are folders imports start from (relative, "" is the repository's root), most specific first.

    `names` maps each top-level module of the project, and each helper beside the tests, to its folder. `guarded`
    are the protected Python files, a folder instead of its files where all in it are protected.
    """

    roots: tuple[str, ...]
    names: Mapping[str, str]
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    guarded: tuple[str, ...] = ()


def of(paths: Sequence[str], patterns: Sequence[str], roots: Sequence[str], guarded: frozenset[str]) -> Layout:
    """The layout of a tree: `patterns` name test files, `roots` come from configuration, `guarded` is protected."""
    python = [p for p in paths if p.endswith(".py") and p.isprintable()]
    tests = tuple(p for p in python if _matches(p, patterns) and p in guarded)
    found = list(dict.fromkeys(r.strip("/") if r != "." else "" for r in roots))
    if "src" not in found and any(p.startswith("src/") for p in python):
        found.append("src")
    ordered = [*(r for r in found if r), ""]
    names: dict[str, str] = {}
    for root in ordered:
        for name in _top_level(python, root, guarded):
            names.setdefault(name, root)
    _add_test_modules(python, tests, guarded, names)
    sources = tuple(sorted({p.split("/", 1)[0] for p in python if p not in guarded}))
    return Layout(roots=tuple(ordered), names=names, sources=sources, tests=tests, guarded=_collapsed(python, guarded))


def _collapsed(python: Sequence[str], guarded: frozenset[str]) -> tuple[str, ...]:
    mixed = {f for p in python if p not in guarded for f in _folders(p)}
    return tuple(sorted({next((f for f in _folders(p) if f not in mixed), p) for p in python if p in guarded}))


def _folders(path: str) -> list[str]:
    """The folders a file lies in, outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def configured_roots(pyproject: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Folders that setuptools is told to look for packages in."""
    tool = (pyproject or {}).get("tool", {}).get("setuptools", {})
    if not isinstance(tool, dict):
        return ()
    packages = tool.get("packages", {})
    where = packages.get("find", {}).get("where", ()) if isinstance(packages, dict) else ()
    named = tool.get("package-dir", {}).get("", "") if isinstance(tool.get("package-dir"), dict) else ""
    return tuple(str(w) for w in (*where, *([named] if named else ())))


def _matches(path: str, patterns: Iterable[str]) -> bool:
    base = path.rsplit("/", 1)[-1]
    return any(fnmatch.fnmatch(path if "/" in p else base, p) for p in patterns)


def _top_level(python: Sequence[str], root: str, guarded: frozenset[str]) -> Iterable[str]:
    prefix = f"{root}/" if root else ""
    for path in python:
        if not path.startswith(prefix):
            continue
        first, _, rest = path[len(prefix) :].partition("/")
        name = first if rest else first.removesuffix(".py")
        package = rest == "__init__.py" or (rest and root)
        if name.isidentifier() and name not in _RESERVED and (package or not rest) and _free(name, path in guarded):
            yield name


def _free(name: str, protected: bool) -> bool:
    return protected or name not in sys.stdlib_module_names


def _add_test_modules(
    python: Sequence[str], tests: Sequence[str], guarded: frozenset[str], names: dict[str, str]
) -> None:
    """Test packages, and helper modules in test folders that are no package, found before anything else."""
    packages = {p.rpartition("/")[0] for p in python if p.endswith("/__init__.py")}
    folders = {p.rpartition("/")[0] for p in tests}
    helpers: dict[str, list[str]] = {}
    for folder in folders:
        if folder in packages:
            top = folder
            while "/" in top and top.rpartition("/")[0] in packages:
                top = top.rpartition("/")[0]
            parent, _, name = top.rpartition("/")
            if f"{top}/__init__.py" in guarded:
                helpers.setdefault(name, []).append(parent)
    for path in python:
        folder, _, base = path.rpartition("/")
        name = base.removesuffix(".py")
        if folder in folders and folder not in packages and path in guarded and path not in tests:
            helpers.setdefault(name, []).append(folder)
    for name, where in helpers.items():
        if len(set(where)) == 1 and name not in _RESERVED and name.isidentifier():
            names.setdefault(name, where[0])


def modules_of(path: str, layout: Layout) -> tuple[str, ...]:
    """The dotted names under which a file may be imported."""
    found = []
    for root in layout.roots:
        prefix = f"{root}/" if root else ""
        if path.startswith(prefix) and path.endswith(".py"):
            parts = path[len(prefix) : -3].split("/")
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return tuple(f for f in found if f)
