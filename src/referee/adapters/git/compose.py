"""What a commit of a landing holds: the parent's tree with the landed changes, and nothing else that is on disk.

Contents are taken as `git add` would take them (line endings), and where a file has uncommitted changes of the user's
only the landed change is committed: a three-way merge picks it out. What cannot be told apart is refused in words.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from referee.adapters.git.entry import Entry
from referee.adapters.git.history import History
from referee.adapters.git.index import Index, Restaged
from referee.adapters.git.merge import Conflict, Merger, merged_entry
from referee.adapters.git.moves import Move
from referee.adapters.git.names import decode, shown
from referee.adapters.git.objects import Objects
from referee.domain.errors import UsageError
from referee.ports import Commit


class Composer:
    """Makes trees and commits in the user's store; no ref, index or file of theirs changes."""

    def __init__(self, history: History, objects: Objects, merger: Merger) -> None:
        self._history = history
        self._objects = objects
        self._merger = merger

    def changes(self, moves: Sequence[Move], parent: str) -> dict[bytes, tuple[Entry | None, Entry | None]]:
        """For each path what the parent holds and what the commit shall. Raises `UsageError` in words."""
        self._unfiltered([m.path for m in moves])
        found = {}
        for move in moves:
            held = self._history.entry(parent, move.path)
            try:
                found[move.path] = (held, self._committed(move, held))
            except Conflict:
                what = "is not committed yet" if held is None else "has uncommitted changes next to the repair"
                raise UsageError(
                    f"{shown(move.path)} {what}, so the repair cannot be committed without them; commit that file first"
                ) from None
        return found

    def restaged(self, changes: dict[bytes, tuple[Entry | None, Entry | None]], index: Index) -> tuple[Restaged, ...]:
        """How the index must change so that what is staged stays staged. Raises `UsageError` in words."""
        staged = index.entries(list(changes))
        found = []
        for path, (held, wanted) in changes.items():
            now = staged[path].entry if path in staged else None
            try:
                after = merged_entry(held, now, wanted, self._merge)
            except Conflict:
                raise UsageError(
                    f"{shown(path)} has staged changes next to the repair, so the repair cannot be committed without "
                    f"them; commit them first, or unstage them: git restore --staged {shown(path)}"
                ) from None
            found.append(Restaged(path=path, before=now, after=after))
        return tuple(found)

    def commit(self, changes: dict[bytes, tuple[Entry | None, Entry | None]], commit: Commit) -> str:
        """A commit of the parent's tree with these changes; its name. No hook runs and nothing is signed."""
        index = os.path.join(self._history.folder, b"referee.tree")
        _discard(index)  # a kill may have left it, with its lock
        try:
            self._history.must("read-tree", commit.parent, index=index)
            gone = "0" * len(commit.parent)
            lines = (
                b"%s %s\t%s\0"
                % ((after.mode if after else "0").encode(), (after.oid if after else gone).encode(), path)
                for path, (_, after) in changes.items()
            )
            self._history.must("update-index", "-z", "--index-info", stdin=b"".join(lines), index=index)
            tree = self._history.must("write-tree", "--missing-ok", index=index).decode().strip()
        finally:
            _discard(index)
        said = self._history.must(
            "commit-tree", tree, "-p", commit.parent, stdin=commit.message.encode(), as_person=True
        )
        return said.decode().strip()

    def _committed(self, move: Move, held: Entry | None) -> Entry | None:
        """What the commit shall hold at one path."""
        if move.before == held:  # no conversion is at work, or there is no file yet
            return self._stored(move.after, None if held else move.path)
        before, after = (self._stored(entry, move.path) for entry in (move.before, move.after))
        return merged_entry(before, held, after, self._merge)

    def _stored(self, entry: Entry | None, path: bytes | None) -> Entry | None:
        if entry is None:
            return None
        return Entry(entry.mode, self._history.store(self._objects.read(entry.oid), path))

    def _merge(self, base: str, ours: str, theirs: str) -> str:
        return self._history.store(self._merger.contents(*map(self._history.content, (base, ours, theirs))), None)

    def _unfiltered(self, paths: Sequence[bytes]) -> None:
        """Raises `UsageError` for a path that `git add` would send through a program of the user's."""
        out = self._history.must("check-attr", "-z", "--stdin", "filter", stdin=b"".join(p + b"\0" for p in paths))
        settings = self._history.settings()
        fields = out.split(b"\0")[:-1]
        for path, value in zip(fields[::3], fields[2::3], strict=True):
            name = decode(value)
            if any(f"filter.{name}.{part}" in settings for part in ("clean", "process")):
                raise UsageError(
                    f"{shown(path)} goes through the filter {name}, which only your own git runs; "
                    f"use --land tree and commit it yourself"
                )


def _discard(index: bytes) -> None:
    for left in (index, index + b".lock"):
        with suppress(FileNotFoundError):
            os.unlink(left)
