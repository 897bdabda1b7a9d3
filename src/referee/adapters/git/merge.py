"""Three-way merges: of one file's bytes, and of whole trees in the private store."""

from __future__ import annotations

import os
from collections.abc import Callable

from referee.adapters.git.entry import REGULAR, Entry
from referee.adapters.git.git import Git
from referee.adapters.git.moves import Move, differences
from referee.adapters.git.names import decode
from referee.adapters.git.objects import Objects
from referee.adapters.git.private import Private, replace
from referee.adapters.git.trees import Trees
from referee.domain.errors import WorldFault
from referee.ports import Merged

CLASH = 128  # from here on git merge-file tells of errors; below it counts conflicts


class Merger:
    """Merges by content, never by name: a file that was moved counts as deleted."""

    def __init__(self, git: Git, private: Private, objects: Objects, trees: Trees) -> None:
        self._git = git
        self._private = private
        self._objects = objects
        self._trees = trees

    def trees(self, base: str, ours: str, theirs: str) -> Merged:
        """`ours` with all that changed from `base` to `theirs`, or the paths where that cannot be."""
        entries: dict[bytes, Entry | None] = {}
        conflicts: list[str] = []
        for move in differences(self._private, base, theirs):
            now, found = self._trees.look_up(ours, move.path)
            now = now if found == move.path else Entry(mode="blocked")
            try:
                entries[move.path] = self._entry(move, now)
            except Conflict:
                conflicts.append(decode(move.path))
        if conflicts:
            return Merged(conflicts=tuple(conflicts))
        return Merged(tree=self._trees.change(ours, entries) if entries else ours)

    def _entry(self, move: Move, now: Entry | None) -> Entry | None:
        return merged_entry(move.before, now, move.after, self._merge)

    def _merge(self, base: str, ours: str, theirs: str) -> str:
        return self._objects.write("blob", self.contents(*map(self._objects.read, (base, ours, theirs))))

    def contents(self, base: bytes, ours: bytes, theirs: bytes) -> bytes:
        """The merged bytes. Raises `Conflict` if both sides changed the same or touching lines, or it is no text."""
        with self._private.locked(b"merge"):
            folder = os.path.join(self._private.path, b"merge")
            os.makedirs(folder, mode=0o700, exist_ok=True)
            names = [os.path.join(folder, name) for name in (b"ours", b"base", b"theirs")]
            for name, data in zip(names, (ours, base, theirs), strict=True):
                replace(name, data, durable=False)
            said = self._git.run("merge-file", "-p", "-q", *names, variables=self._private.variables(), cwd=folder)
            for name in names:
                os.unlink(name)
        if said.code == 0:
            return said.out
        if said.code < CLASH or b"\0" in base + ours + theirs:
            raise Conflict
        raise WorldFault(f"git merge-file failed: {said.words}")


class Conflict(Exception):
    """Two changes cannot both be had."""


def merged_entry(
    base: Entry | None, ours: Entry | None, theirs: Entry | None, merge: Callable[[str, str, str], str]
) -> Entry | None:
    """What becomes of one path; `merge` merges contents by name. Raises `Conflict`."""
    if ours in (base, theirs):
        return theirs
    if base is None or ours is None or theirs is None or not all(e.mode in REGULAR for e in (base, ours, theirs)):
        raise Conflict
    mode = ours.mode if base.mode == theirs.mode else theirs.mode
    if ours.oid in (base.oid, theirs.oid):
        return Entry(mode, theirs.oid)
    if theirs.oid == base.oid:
        return Entry(mode, ours.oid)
    return Entry(mode, merge(base.oid, ours.oid, theirs.oid))
