"""What is kept of each run to undo it later: `.harness/snapshots/RUN/`, complete in itself.

`snapshot` is the tree at the start; `landing` what a landing is about to change, with the old bytes, written before
it; `landed` and `undone` that it took effect; `undo.patch` is the way back for `git apply`.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TypeVar

from referee.adapters.git.entry import Entry
from referee.adapters.git.names import WorkPath
from referee.adapters.git.private import Private, replace
from referee.adapters.git.root import FOLDER, remove
from referee.adapters.sync import sync_folder
from referee.domain.errors import UsageError, WorldFault
from referee.domain.value import Value
from referee.ports import Snapshot

RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
V = TypeVar("V", bound=Value)


class Moved(Value):
    """One path of a landing: from, to, and the bytes and traits there were (None for a new file)."""

    path: WorkPath
    before: Entry | None
    after: Entry | None
    content: bytes | None
    permissions: int | None
    owner: tuple[int, int] | None = None
    attributes: tuple[tuple[bytes, bytes], ...] = ()


class LandingRecord(Value):
    """A landing: the trees, the paths, and the folders it creates."""

    before: str
    after: str
    moved: tuple[Moved, ...]
    made: tuple[WorkPath, ...]


class SnapshotRecord(Value):
    """A run's snapshot."""

    snapshot: Snapshot


class Mark(Value):
    """That something took effect, and what was said about it."""

    said: tuple[str, ...] = ()


class Records:
    """The records of all runs of one repository."""

    def __init__(self, private: Private) -> None:
        self._folder = os.path.join(private.path, b"snapshots")

    def save(self, run_id: str, name: str, record: Value) -> None:
        """Keep a record durably."""
        replace(self._path(run_id, name, create=True), record.model_dump_json().encode())

    def load(self, run_id: str, name: str, kind: type[V]) -> V | None:
        """A record, or None if there is none. Raises `WorldFault` if it is damaged."""
        try:
            with open(self._path(run_id, name), "rb") as file:
                return kind.model_validate_json(file.read())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise WorldFault(f"the record {name} of run {run_id} is damaged; nothing was changed") from error

    def drop(self, run_id: str, name: str) -> None:
        """Forget one record, durably."""
        path = self._path(run_id, name)
        with suppress(FileNotFoundError):
            os.unlink(path)
            sync_folder(os.path.dirname(path))

    def keep_patch(self, run_id: str, patch: bytes) -> None:
        """Keep the undoing patch for people (the record `landing` is what a rollback reads)."""
        replace(self.patch(run_id, create=True), patch, durable=False)

    def patch(self, run_id: str, *, create: bool = False) -> bytes:
        """Where that patch is."""
        return self._path(run_id, "undo.patch", create=create)

    def age(self, run_id: str, now: float) -> float:
        """Seconds since anything was recorded of a run."""
        return now - os.stat(self._path(run_id, ".")).st_mtime

    def known(self, run_id: str) -> bool:
        """Whether anything is kept of this run."""
        return os.path.isdir(self._path(run_id, "."))

    def all(self) -> tuple[str, ...]:
        """The runs of which something is kept."""
        return tuple(sorted(os.fsdecode(n) for n in os.listdir(self._folder) if RUN.fullmatch(os.fsdecode(n))))

    def forget(self, run_id: str) -> None:
        """Drop all that is kept of a run."""
        fd = os.open(self._folder, FOLDER)
        try:
            remove(fd, run_id.encode())
        finally:
            os.close(fd)

    def _path(self, run_id: str, name: str, *, create: bool = False) -> bytes:
        if not RUN.fullmatch(run_id):
            raise UsageError(f"{run_id!r} is not a run's name; referee runs lists them")
        folder = os.path.join(self._folder, run_id.encode())
        if create:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        return os.path.join(folder, name.encode())
