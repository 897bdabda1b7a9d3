"""A repository of our own making: files in a folder become its first commit."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Sequence

from referee.adapters.git.git import Git
from referee.domain.errors import WorldFault

_NEUTRAL = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


def first_commit(folder: str, paths: Sequence[str], author: str, message: str) -> None:
    """Make `folder` a repository whose branch `main` has the files `paths` in one commit.

    `author` is as in a commit object, with its time, so that equal files make an equal commit. Raises `WorldFault` if
    git refuses.
    """
    git = Git()
    _git(git, folder, "init", "--quiet", "--template=", "--initial-branch=main")
    _git(git, folder, "update-index", "--add", "-z", "--stdin", stdin="\0".join(paths).encode())
    tree = _git(git, folder, "write-tree").decode().strip()
    # By hand: the wrapper makes commits only where a landing asks for one.
    body = f"tree {tree}\nauthor {author}\ncommitter {author}\n\n{message}\n".encode()
    _loose(os.path.join(folder, ".git"), b"commit %d\0%s" % (len(body), body))


def _git(git: Git, folder: str, *args: str, stdin: bytes = b"") -> bytes:
    ended = git.run(*args, variables=_NEUTRAL, cwd=os.fsencode(folder), stdin=stdin)
    if ended.code:
        raise WorldFault(f"git {args[0]} failed in {folder}: {ended.words}")
    return ended.out


def _loose(store: str, data: bytes) -> None:
    """Store a commit and point `main` at it."""
    name = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    folder = os.path.join(store, "objects", name[:2])
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name[2:]), "wb") as file:
        file.write(zlib.compress(data))
    with open(os.path.join(store, "refs", "heads", "main"), "w", encoding="ascii") as file:
        file.write(name + "\n")
