"""Storing the contents of a snapshot: all that the user's own history does not hold, verified."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from referee.adapters.git.entry import Entry
from referee.adapters.git.private import Private, replace
from referee.adapters.git.recent import Recent
from referee.adapters.git.repository import Repository
from referee.domain.errors import UsageError, WorldFault

_MOST_NAMED = 500  # paths given to a command one by one


class Keeper:
    """Stores contents of files in the private store. A mark says for which HEAD and tree that was last done."""

    def __init__(self, repository: Repository, private: Private) -> None:
        self._repository = repository
        self._private = private

    def forget(self) -> None:
        """Check at the next snapshot that all contents are stored."""
        discard(os.path.join(self._private.folder, b"kept"))

    def keep_more(self, index: bytes, known: Recent, found: Sequence[bytes], tree: str) -> None:
        """Store the contents that the last tree, all of which is stored, did not have."""
        mark = os.path.join(self._private.folder, b"kept")
        if _read(mark) != f"{known.head} {known.tree}".encode() or len(found) > _MOST_NAMED:
            self.keep(index, tree, known.head)
            return
        entries = self._entries(index, found) if found else {}
        absent = self._absent({e.oid for e in entries.values()}, read_user=False)
        self._store({path: entry for path, entry in entries.items() if entry.oid in absent})
        if absent and self._absent(absent, read_user=False):
            raise WorldFault("the snapshot is not complete: some contents could not be stored; try again")
        replace(mark, f"{known.head} {tree}".encode(), durable=False)

    def _entries(self, index: bytes, paths: Sequence[bytes] = ()) -> dict[bytes, Entry]:
        entries = {}
        for line in self._run("ls-files", "-z", "-s", "--", *paths, index=index).split(b"\0")[:-1]:
            facts, _, path = line.partition(b"\t")
            mode, oid, _ = facts.decode().split(" ")
            entries[path] = Entry(mode, oid)
        return entries

    def keep(self, index: bytes, tree: str, head: str) -> None:
        """Store every content that the history of `head` does not hold (the user's gc may drop the rest)."""
        mark = os.path.join(self._private.folder, b"kept")
        if _read(mark) == f"{head} {tree}".encode():
            return  # what HEAD reaches is safe from the user's gc, and the rest was stored then
        entries = self._entries(index)
        committed = set(self._committed(head)) if head else set()
        absent = self._absent({e.oid for e in entries.values()}, read_user=True)
        loose = {e.oid for e in entries.values()} - committed - absent
        absent |= self._absent(loose, read_user=False)
        self._store({path: entry for path, entry in entries.items() if entry.oid in absent})
        if self._absent(absent, read_user=False):
            raise WorldFault("the snapshot is not complete: some contents could not be stored; try again")
        replace(mark, f"{head} {tree}".encode(), durable=False)

    def _store(self, entries: dict[bytes, Entry]) -> None:
        index = os.path.join(self._private.folder, b"store.index")
        for left in (index, index + b".lock"):
            discard(left)
        if entries:
            self._run("update-index", "--add", "-z", "--stdin", stdin=lines(entries), index=index)
            if self._entries(index) != entries:
                raise UsageError("files changed while the snapshot was taken; stop what changes them and try again")
            discard(index)

    def _committed(self, head: str) -> Iterable[str]:
        for line in self._private.git("ls-tree", "-r", "-z", "--full-tree", head).split(b"\0")[:-1]:
            yield line.partition(b"\t")[0].rpartition(b" ")[2].decode()

    def _absent(self, oids: set[str], *, read_user: bool) -> set[str]:
        if not oids:
            return set()
        asked = "\n".join(sorted(oids)).encode() + b"\n"
        said = self._private.git("cat-file", "--batch-check", "--buffer", stdin=asked, read_user=read_user)
        return {line.split()[0].decode() for line in said.splitlines() if line.endswith(b" missing")}

    def _run(self, *args: str | bytes, stdin: bytes = b"", index: bytes) -> bytes:
        root = self._repository.root
        return self._private.git(*args, stdin=stdin, index=index, work_tree=root, read_user=False)


def lines(paths: Iterable[bytes]) -> bytes:
    """Names as git reads them with -z."""
    return b"".join(path + b"\0" for path in paths)


def _read(path: bytes) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def discard(path: bytes) -> None:
    """Remove a file that may not be there."""
    if os.path.lexists(path):
        os.unlink(path)
