"""Applying a patch to a tree: every objection at once, or the new tree. No file on disk is involved."""

from __future__ import annotations

import os
from collections.abc import Iterator

from referee.adapters.git.entry import EXECUTABLE, FILE, LARGEST, Entry
from referee.adapters.git.names import decode, encode, objection, parents
from referee.adapters.git.objects import Objects
from referee.adapters.git.root import Root
from referee.adapters.git.trees import FOLDER, Trees
from referee.domain.errors import Rejected
from referee.domain.finding import Finding, FindingKind
from referee.domain.patch import FileChange, Patch


def applied(patch: Patch, tree: str, *, trees: Trees, objects: Objects, root: Root) -> str:
    """The tree that `patch` makes of `tree`. Raises `Rejected` with a finding per path that does not fit."""
    created = {encode(c.path) for c in patch.changes if c.after is not None}
    findings = tuple(
        Finding(kind=FindingKind.UNAPPLIABLE, check="patch", path=change.path, message=f"{change.path} {wrong}")
        for change in patch.changes
        for wrong in _objections(change, tree, created, trees, root)
    )
    if findings:
        raise Rejected(findings)
    entries = {encode(change.path): _entry(change, objects) for change in patch.changes}
    return trees.change(tree, entries) if entries else tree


def _entry(change: FileChange, objects: Objects) -> Entry | None:
    if change.after is None:
        return None
    return Entry(EXECUTABLE if change.after.executable else FILE, objects.write("blob", change.after.data))


def _objections(change: FileChange, tree: str, created: set[bytes], trees: Trees, root: Root) -> Iterator[str]:
    path = encode(change.path)
    wrong = objection(path)
    if wrong:
        yield wrong
        return
    above = parents(path)
    if created.intersection(above):
        yield "would lie inside a file that the same patch makes"
    nested = next((f for f in above if os.path.lexists(os.path.join(root.path, f, b".git"))), None)
    if nested is not None:
        yield f"is inside the nested repository {decode(nested)}, which is left alone"
    entry, found = trees.look_up(tree, path)
    if found != path:
        yield f"cannot be reached: {decode(found)} is not a folder"
    elif entry is None:
        if change.after is None:
            yield "does not exist, so it cannot be deleted"
    elif entry.mode == FOLDER:
        yield "is a folder; name a file"
    elif not entry.regular:
        yield "is a symlink; a patch changes regular files only"
    elif _large(os.path.join(root.path, path)):
        yield f"is larger than {LARGEST >> 20} MiB, too large to be changed by a run; leave it as it is"


def _large(whole: bytes) -> bool:
    try:
        return os.lstat(whole).st_size > LARGEST
    except (FileNotFoundError, NotADirectoryError):
        return False  # removed since: landing will tell
