"""Ignored files that imports need: built extensions and generated modules beside the project's own code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from referee.adapters.git.names import parents

BUILT = (b".so", b".pyd")
SOURCE = (b".py", b".pyi")
# What tools call the modules they write. Others are known by a first line that says so.
_NAMES = re.compile(
    rb"(_{0,2}[a-z]*_?version(_info|_tuple)?_{0,2}|__about__|_?build_?info|_generated\w*|\w+_pb2(_grpc)?|parsetab|"
    rb"\w+_rc|ui_\w+)\.pyi?"
)
_MARK = re.compile(
    rb"(auto-?matically |auto-?)?generated (by|from|file)|file generated|do not (edit|change|modify)", re.I
)
_HEAD = 1024  # bytes in which a generated file says so
_CACHES = (b"__pycache__", b"node_modules", b".git", b"build", b"dist")
_NAMED = 20  # files left out that are named one by one
WHY = "ignored by git; if tests need it, name it in include"


class Along(NamedTuple):
    """Ignored files to bring along, and others that look like code and stay, each with the reason."""

    wanted: list[bytes]
    left: list[tuple[bytes, str]]


def folders(ignored: Iterable[bytes], tracked: Sequence[bytes]) -> list[bytes]:
    """Wholly ignored folders (names that end in a slash) directly inside a package of the project: generated code."""
    packages = {p.rpartition(b"/")[0] for p in tracked if p.endswith(b"/__init__.py")}
    found = (p.rstrip(b"/") for p in ignored if p.endswith(b"/"))
    return [f for f in found if f.rpartition(b"/")[0] in packages and f.rpartition(b"/")[2] not in _CACHES]


def choose(root: bytes, ignored: Iterable[bytes], tracked: Sequence[bytes]) -> Along:
    """Sort ignored files out: `tracked` says where the project's own code is."""
    ignored = [p for p in ignored if p.endswith((*BUILT, *SOURCE))]
    if not ignored:
        return Along([], [])
    direct = {p.rpartition(b"/")[0] for p in tracked if p.endswith(SOURCE)}
    homes = direct | {above for folder in direct for above in parents(folder)}
    packages = {p.rpartition(b"/")[0] for p in tracked if p.endswith(b"/__init__.py")}
    along = Along([], [])
    for path in ignored:
        folder, _, name = path.rpartition(b"/")
        if any(part in _CACHES or part.endswith(b".egg-info") for part in folder.split(b"/")):
            continue
        beside = folder in homes
        below = any(f in packages for f in parents(path))
        if name.endswith(BUILT) and (beside or below):
            along.wanted.append(path)
        elif name.endswith(SOURCE) and (beside or below):
            generated = (below and not beside) or bool(_NAMES.fullmatch(name)) or _says_so(os.path.join(root, path))
            if generated:
                along.wanted.append(path)
            elif len(along.left) < _NAMED:
                along.left.append((path, WHY))
    return along


def _says_so(path: bytes) -> bool:
    """Whether a regular file's first lines say that a program wrote it."""
    try:
        if os.path.islink(path) or not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return bool(_MARK.search(file.read(_HEAD)))
    except OSError:
        return False  # it is left out, by name
