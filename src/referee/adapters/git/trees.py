"""Trees as values: looking a path up and making a changed tree, without an index and without touching files."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from referee.adapters.git.entry import Entry
from referee.adapters.git.objects import Objects

FOLDER = "40000"
REMEMBERED = 4096  # folders; one takes a few hundred bytes per file in it

Folder = Mapping[bytes, Entry]


class Trees:
    """Folders of trees, read once each; every change costs as many folders as it touches."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._known: OrderedDict[str, Folder] = OrderedDict()
        self._lock = threading.Lock()

    def look_up(self, tree: str, path: bytes) -> tuple[Entry | None, bytes]:
        """What `path` is in `tree`, and the path it was found at.

        That is `path` itself, or the parent that is no folder and therefore blocks it.
        """
        parts = path.split(b"/")
        oid = tree
        for depth, part in enumerate(parts):
            entry = self._folder(oid).get(part)
            last = depth == len(parts) - 1
            if last or (entry is not None and entry.mode != FOLDER):
                return entry, b"/".join(parts[: depth + 1])
            if entry is None:
                return None, path
            oid = entry.oid
        raise AssertionError("a path has at least one part")

    def change(self, tree: str, changes: Mapping[bytes, Entry | None]) -> str:
        """The tree with other entries at some paths (None: no entry). Folders left empty disappear, as git has it."""
        return self._changed(tree, changes) or self._objects.write("tree", b"")

    def _changed(self, tree: str | None, changes: Mapping[bytes, Entry | None]) -> str | None:
        entries = dict(self._folder(tree)) if tree else {}
        below: dict[bytes, dict[bytes, Entry | None]] = {}
        for path, entry in changes.items():
            name, _, rest = path.partition(b"/")
            if rest:
                below.setdefault(name, {})[rest] = entry
            elif entry is None:
                entries.pop(name, None)
            else:
                entries[name] = entry
        for name, inner in below.items():
            folder = entries.get(name)
            made = self._changed(folder.oid if folder and folder.mode == FOLDER else None, inner)
            if made:
                entries[name] = Entry(mode=FOLDER, oid=made)
            else:
                entries.pop(name, None)
        return self._objects.write("tree", serialise(entries)) if entries else None

    def _folder(self, oid: str) -> Folder:
        with self._lock:
            known = self._known.get(oid)
            if known is not None:
                self._known.move_to_end(oid)
                return known
        folder = parse(self._objects.read(oid), len(oid) // 2)
        with self._lock:
            self._known[oid] = folder
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return folder


def parse(data: bytes, width: int) -> dict[bytes, Entry]:
    """The entries of a tree object; `width` is the length of a binary object name."""
    entries = {}
    at = 0
    while at < len(data):
        space, end = data.index(b" ", at), data.index(b"\0", at)
        oid = data[end + 1 : end + 1 + width].hex()
        entries[data[space + 1 : end]] = Entry(mode=data[at:space].decode(), oid=oid)
        at = end + 1 + width
    return entries


def serialise(entries: Folder) -> bytes:
    """A tree object's bytes. Git sorts folders as if their names ended in a slash."""
    ordered = sorted(entries.items(), key=lambda e: e[0] + b"/" if e[1].mode == FOLDER else e[0])
    return b"".join(b"%s %s\0%s" % (e.mode.encode(), name, bytes.fromhex(e.oid)) for name, e in ordered)
