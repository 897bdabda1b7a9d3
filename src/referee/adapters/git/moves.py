"""From two trees to the paths a landing moves, and whether this process may write them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from referee.adapters.git.entry import LARGEST, Entry
from referee.adapters.git.names import objection, parents, shown
from referee.adapters.git.private import Private
from referee.adapters.git.root import Root
from referee.domain.errors import UsageError

ABSENT = "000000"


class Move(NamedTuple):
    """One path and what it is in two trees."""

    path: bytes
    before: Entry | None
    after: Entry | None


def differences(private: Private, before: str, after: str) -> Iterator[Move]:
    """The paths in which two trees differ, sorted."""
    said = private.git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after).split(b"\0")
    for facts, path in zip(said[:-1:2], said[1::2], strict=True):
        mode, new_mode, oid, new_oid, _ = facts[1:].decode().split(" ")
        yield Move(
            path, None if mode == ABSENT else Entry(mode, oid), None if new_mode == ABSENT else Entry(new_mode, new_oid)
        )


def landable(private: Private, before: str, after: str) -> tuple[Move, ...]:
    """The differences, all of them between regular files. Raises `UsageError` if there are others."""
    moves = tuple(differences(private, before, after))
    gone = {move.path for move in moves if move.after is None}
    emptied = {folder for move in moves if move.after is None for folder in parents(move.path)}
    for move in moves:
        wrong = objection(move.path)
        if move.before is None and (move.path in emptied or gone.intersection(parents(move.path))):
            wrong = "changes between a file and a folder; land the deletion first, in a run of its own"
        if wrong is None and any(entry is not None and not entry.regular for entry in (move.before, move.after)):
            wrong = "is a symlink; only regular files are landed"
        if wrong is not None:
            raise UsageError(f"{shown(move.path)} {wrong}")
    return moves


def missing_folders(root: Root, paths: Iterator[bytes]) -> tuple[bytes, ...]:
    """The folders that do not exist yet on the way to `paths`, outermost first."""
    return tuple(sorted({f for path in paths for f in parents(path) if root.observe(f) is None}))


def unwritable(root: Root, private: Private, path: bytes) -> str | None:
    """Why the file at `path` will not be written, with what to do; None if it may.

    Read-only files and folders are respected even where root, or a rename, would get round them.
    """
    nested = next((f for f in parents(path) if os.path.lexists(os.path.join(root.path, f, b".git"))), None)
    if nested is not None:
        return f"is inside the nested repository {shown(nested)}; run there instead"
    with root.parent_or_nearest(path) as (folder, name):
        facts = os.fstat(folder)
        if facts.st_dev != os.stat(private.path).st_dev:
            return "is on another file system than the repository; run on a copy that is on one"
        if not facts.st_mode & 0o222 or not os.access(".", os.W_OK | os.X_OK, dir_fd=folder, effective_ids=True):
            return "is in a read-only folder; make it writable (chmod u+w)"
        try:
            file = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
    if file.st_size > LARGEST:
        return f"is larger than {LARGEST >> 20} MiB, too large to be kept for an undo; change it by hand"
    if not file.st_mode & 0o200:
        return f"is read-only; make it writable (chmod u+w {shown(path)})"
    if os.geteuid() not in (0, file.st_uid):
        return f"belongs to another user (id {file.st_uid}); run as that user, or change its owner"
    return None
