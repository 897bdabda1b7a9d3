"""The bundled sample project as a real git repository in a folder of its own."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable

from referee.adapters.git.git import Git
from referee.domain.errors import UsageError, WorldFault

# A fixed author and date: the sample is the same commit everywhere.
_AUTHOR = "referee demo <demo@localhost> 1735689600 +0000"
_NEUTRAL = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


@contextmanager
def sample(keep: str | None) -> Iterator[str]:
    """The path of a fresh repository with the sample project committed; removed afterwards unless `keep` names it.

    Raises `UsageError` if `keep` exists and is not an empty folder.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="referee-demo-") as folder:
            yield _filled(os.path.join(os.path.realpath(folder), "cornershop"))
        return
    if os.path.lexists(keep) and (not os.path.isdir(keep) or os.listdir(keep)):
        raise UsageError(f"{keep} exists already; name a new folder: referee demo --keep DIR")
    yield _filled(os.path.realpath(keep))


def _filled(folder: str) -> str:
    paths = _copy(files("referee.demo") / "project", folder)
    git = Git()
    _git(git, folder, "init", "--quiet", "--template=", "--initial-branch=main")
    _git(git, folder, "update-index", "--add", "-z", "--stdin", stdin="\0".join(paths).encode())
    tree = _git(git, folder, "write-tree").decode().strip()
    _commit(os.path.join(folder, ".git"), tree)
    return folder


def _copy(source: Traversable, target: str, prefix: str = "") -> list[str]:
    """Copy a folder of the package, without what tools leave behind; the copied files' relative paths."""
    os.makedirs(target, exist_ok=True)
    copied: list[str] = []
    for entry in sorted(source.iterdir(), key=lambda e: e.name):
        if entry.name == "__pycache__" or entry.name.startswith("."):
            continue
        place, name = os.path.join(target, entry.name), prefix + entry.name
        if entry.is_dir():
            copied += _copy(entry, place, name + "/")
        else:
            with open(place, "wb") as file:
                file.write(entry.read_bytes())
            copied.append(name)
    return copied


def _git(git: Git, folder: str, *args: str, stdin: bytes = b"") -> bytes:
    ended = git.run(*args, variables=_NEUTRAL, cwd=os.fsencode(folder), stdin=stdin)
    if ended.code:
        raise WorldFault(f"git {args[0]} failed in {folder}: {ended.words}")
    return ended.out


def _commit(store: str, tree: str) -> None:
    """The first commit of `main`, written by hand: the project's git wrapper cannot make commits, on purpose."""
    body = f"tree {tree}\nauthor {_AUTHOR}\ncommitter {_AUTHOR}\n\nOpen the shop\n".encode()
    data = b"commit %d\0%s" % (len(body), body)
    name = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    folder = os.path.join(store, "objects", name[:2])
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name[2:]), "wb") as file:
        file.write(zlib.compress(data))
    with open(os.path.join(store, "refs", "heads", "main"), "w", encoding="ascii") as file:
        file.write(name + "\n")
