"""Which modules a path means: a file, a package, or a folder that holds some."""

from __future__ import annotations

import os
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from referee.domain.errors import UsageError

INIT = "__init__"
_ENDINGS = (".py", ".pyi")  # the source of a module counts before its stub
_NOT_MEANT = ("test", "tests", "docs", "doc", "examples", "benchmarks", "build", "dist", "node_modules")
_NOT_MODULES = ("setup", "conftest", "noxfile", "tasks")
_MOST_BYTES = 8 << 20
_DEEPEST = 40


@dataclass(frozen=True)
class Found:
    """A module by name, the file that holds it (empty for a package without `__init__`), and what it is inside of."""

    name: str
    file: str

    @property
    def parent(self) -> str:
        """The package's name, empty at the top."""
        return self.name.rpartition(".")[0]


@dataclass(frozen=True)
class Sources:
    """Modules to load, parents first, and the prefixes of the names that were asked for."""

    modules: tuple[Found, ...]
    wanted: tuple[str, ...]
    folder: str


def sources(path: str) -> Sources:
    """What `path` means. Raises `UsageError` if there is no Python there."""
    full = os.path.realpath(path)
    if os.path.isfile(full) and full.endswith(_ENDINGS):
        return _within(full)
    if not os.path.isdir(full):
        raise UsageError(f"{path} is no Python file and no folder; name a module, a package or the folder of some")
    if _packaged(full):
        return _within(full)
    folder = os.path.join(full, "src") if os.path.isdir(os.path.join(full, "src")) else full
    modules = tuple(_children(folder, top=True))
    if not modules:
        raise UsageError(f"{path} holds no Python modules or packages; name a folder that does")
    return Sources(modules=modules, wanted=tuple(m.name for m in modules if not m.parent), folder=folder)


def text_of(file: str) -> str:
    """The source text. Raises `ValueError` in words for what is no readable source."""
    try:
        if os.path.getsize(file) > _MOST_BYTES:
            raise ValueError(f"it is larger than {_MOST_BYTES >> 20} MiB")
        with tokenize.open(file) as stream:
            return stream.read()
    except (OSError, SyntaxError, LookupError, UnicodeDecodeError) as wrong:
        raise ValueError(f"it cannot be read: {wrong}") from wrong


def _within(full: str) -> Sources:
    """A module or package as a part of the package it is in, which is loaded too: names and bases come from there."""
    top, parts = full, [_module_name(full)]
    if parts == [INIT]:
        top, parts = os.path.dirname(full), [os.path.basename(os.path.dirname(full))]
    while _packaged(os.path.dirname(top)):
        top = os.path.dirname(top)
        parts.insert(0, os.path.basename(top))
    folder, first = os.path.dirname(top), parts[0]
    if os.path.isdir(top):
        modules = tuple(_package(top, first, depth=0))
    else:
        modules = (Found(first, top),)
    return Sources(modules=modules, wanted=(".".join(parts),), folder=folder)


def _children(folder: str, *, top: bool = False, prefix: str = "", depth: int = 0) -> Iterator[Found]:
    """The modules and packages in a folder; sources before stubs."""
    seen: set[str] = set()
    for name in sorted(os.listdir(folder), key=lambda n: (not n.endswith(".py"), n)):
        inner, module = os.path.join(folder, name), _module_name(name)
        if not module.isidentifier() or module == INIT or module in seen:
            continue
        if os.path.isdir(inner) and not os.path.islink(inner):
            if top and name in _NOT_MEANT:
                continue
            found = list(_package(inner, prefix + name, depth + 1, loose=top))
        elif name.endswith(_ENDINGS) and os.path.isfile(inner):
            test = module in _NOT_MODULES or module.startswith("test_") or module.endswith("_test")
            found = [] if top and test else [Found(prefix + module, inner)]
        else:
            continue
        if found:
            seen.add(module)
            yield from found


def _package(folder: str, name: str, depth: int, *, loose: bool = False) -> Iterator[Found]:
    """A package with all that is in it; without `__init__` only where `loose`, and only if it holds packages."""
    if depth > _DEEPEST:
        return
    init = next((i for e in _ENDINGS if os.path.isfile(i := os.path.join(folder, INIT + e))), "")
    if not init and not loose:
        return
    inside = list(_children(folder, prefix=f"{name}.", depth=depth)) if init else list(_spaces(folder, name, depth))
    if init or inside:
        yield Found(name, init)
        yield from inside


def _spaces(folder: str, name: str, depth: int) -> Iterator[Found]:
    """What a package without `__init__` spans: only packages, for loose files are scripts."""
    for inner in sorted(os.listdir(folder)):
        full = os.path.join(folder, inner)
        if inner.isidentifier() and os.path.isdir(full) and not os.path.islink(full):
            yield from _package(full, f"{name}.{inner}", depth + 1, loose=depth < 2)


def _packaged(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, INIT + e)) for e in _ENDINGS)


def _module_name(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
