"""Playing a run over the whole matrix of one setting, with what must become of every path said beforehand."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from exact_ground import Ground, kind_at
from exact_subjects import CHANGES

from referee.adapters.git import GitWorkspace
from referee.adapters.git.names import decode, encode, parents, shown
from referee.domain.errors import Rejected, UsageError
from referee.domain.patch import FileContent, patch_of
from referee.ports import Landing

OPERATIONS = CHANGES  # what the run does to a file is what the user may have done to it
LANDED, REJECTED, CONFLICT, REFUSED = "landed", "rejected", "conflict", "refused"


class Try(NamedTuple):
    """What a run does around one path, and what must become of it. `swapped` becomes a link behind its back."""

    path: bytes
    changes: Mapping[bytes, FileContent | None]
    expected: str
    swapped: bytes = b""


def tries(ground: Ground, workspace: GitWorkspace, tree: str, turn: int) -> list[Try]:
    """One operation per subject; after seven turns every subject has had every operation."""
    files = [encode(p) for p in workspace.paths(tree)]
    known = frozenset(files) | {folder for p in files for folder in parents(p)}
    chosen = []
    for n, cell in enumerate(ground.cells):
        whole = os.path.join(ground.root, cell.place)
        now = Now(cell.place, kind_at(whole), cell.place in known, ground.setting.read_only)
        chosen.append(_try(now, whole, OPERATIONS[(n + n // 7 + turn) % len(OPERATIONS)]))
    content = FileContent(data=b"beside %d\n" % turn)
    return chosen + [Try(path, {path: content}, expected) for path, expected in ground.setting.beside]


class Now(NamedTuple):
    """What the user has at a place, and whether the run knows it."""

    place: bytes
    kind: str
    known: bool
    read_only: bool

    @property
    def written(self) -> str:
        """What becomes of new content."""
        if self.kind == "absent":
            return LANDED
        if not self.known:
            return CONFLICT  # ignored: the run never saw it
        if self.kind != "file":
            return REJECTED
        return REFUSED if self.read_only else LANDED

    @property
    def removed(self) -> str:
        """What becomes of a deletion."""
        return self.written if self.known and self.kind == "file" else REJECTED


def _try(now: Now, whole: bytes, operation: str) -> Try:
    place = now.place
    content = FileContent(data=b"by the run: " + operation.encode() + b"\r\nno newline at the end")
    if operation == "create":
        fresh = place if now.kind == "absent" else place + b"-new/deep/file"
        return Try(fresh, {fresh: content}, LANDED)
    if operation == "delete":
        return Try(place, {place: None}, now.removed)
    if operation == "rename":
        return Try(place, {place: None, place + b".moved": content}, now.removed)
    if operation == "type":
        inner = place + b"/inside"
        free = now.kind in ("absent", "folder") and not now.known
        expected = LANDED if free else REJECTED if now.known else CONFLICT
        return Try(place, {inner: content, **({place: None} if now.known else {})}, expected)
    if operation == "mode":
        executable = now.kind != "file" or not os.stat(whole).st_mode & 0o100
        return Try(place, {place: FileContent(data=content.data, executable=executable)}, now.written)
    if operation == "symlink" and now.kind == "file":
        return Try(place, {place: content}, CONFLICT, swapped=place)
    return Try(place, {place: content}, now.written)


class Play:
    """One run: proposals are refused or fall into conflict one after the other until the rest lands."""

    def __init__(self, workspace: GitWorkspace, run_id: str, tree: str, wanted: list[Try]) -> None:
        self._workspace = workspace
        self._run_id = run_id
        self._tree = tree
        self._open = {t.path: t for t in wanted}
        self.outcomes: dict[bytes, str] = {}

    def land(self, root: bytes) -> tuple[str, ...]:
        """What was landed at last."""
        with _swapped(root, [t.swapped for t in self._open.values() if t.swapped]):
            landing = self._tried()
            while landing is None:
                landing = self._tried()
        self.outcomes |= dict.fromkeys(self._open, LANDED)
        return landing.written

    def changes(self) -> dict[bytes, FileContent | None]:
        """What the paths that landed must hold."""
        return {p: c for t in self._open.values() for p, c in t.changes.items()}

    def _tried(self) -> Landing | None:
        """The landing of what is left; None if there was something to take out."""
        changes = {decode(p): c for p, c in self.changes().items()}
        try:
            after = self._workspace.apply(self._tree, patch_of(changes))
            landing = self._workspace.land(self._run_id, self._tree, after)
        except Rejected as rejected:
            return self._take_out({encode(f.path or "") for f in rejected.findings}, REJECTED)
        except UsageError as refused:
            return self._take_out(self._named(str(refused)), REFUSED)
        if landing.conflicts:
            return self._take_out({encode(p) for p in landing.conflicts}, CONFLICT)
        return landing

    def _named(self, words: str) -> set[bytes]:
        return {max((p for p in self.changes() if words.startswith(shown(p) + " ")), key=len)}

    def _take_out(self, paths: set[bytes], outcome: str) -> None:
        for attempt in list(self._open.values()):
            if paths & attempt.changes.keys():
                self.outcomes[attempt.path] = outcome
                del self._open[attempt.path]


@contextmanager
def _swapped(root: bytes, paths: list[bytes]) -> Iterator[None]:
    """Somebody puts links where files were; afterwards the very same files are back."""
    for path in paths:
        whole = os.path.join(root, path)
        os.rename(whole, whole + b".aside")
        os.symlink(b"/etc/hostname", whole)
    try:
        yield
    finally:
        for path in paths:
            whole = os.path.join(root, path)
            os.unlink(whole)
            os.rename(whole + b".aside", whole)
