"""What is kept of commits: the one in progress, and for each run the one it made."""

from __future__ import annotations

import os
from contextlib import suppress

from referee.adapters.git.history import HEADS
from referee.adapters.git.index import Restaged
from referee.adapters.git.names import WorkPath, decode
from referee.adapters.git.private import Private, replace
from referee.adapters.git.records import Mark, Records
from referee.adapters.git.rename import Point
from referee.adapters.sync import sync_folder
from referee.domain.errors import WorldFault
from referee.domain.value import Value
from referee.ports import Landing


class CommitRecord(Value):
    """A commit that is made or about to be: `ref` goes from `parent` (nothing, for a new branch) to `revision`.

    `undoing` says that it is being taken back instead.
    """

    run_id: str
    ref: str
    parent: str
    revision: str
    new_branch: bool
    paths: tuple[WorkPath, ...]
    staged: tuple[Restaged, ...] = ()
    undoing: bool = False

    @property
    def name(self) -> str:
        """The branch as a person calls it."""
        return self.ref.removeprefix(HEADS)

    def landing(self) -> Landing:
        """What the record says was landed."""
        if self.new_branch:
            return Landing(how=f"branch:{self.name}", revision=self.revision)
        return Landing(how="commit", revision=self.revision, written=tuple(map(decode, self.paths)))


class CommitLog:
    """Durable: `commit` is what a run is about to do, `committed` that it did; one file names what is in progress."""

    def __init__(self, private: Private, records: Records, point: Point) -> None:
        self._folder = private.path
        self._records = records
        self._point = point
        self._pending = os.path.join(private.path, b"commit")

    def intend(self, record: CommitRecord) -> None:
        """Begin."""
        if not record.undoing:
            self._records.drop(record.run_id, "committed")
            self._records.save(record.run_id, "commit", record)
        replace(self._pending, record.model_dump_json().encode())
        self._point("commit intended")

    def done(self, record: CommitRecord) -> None:
        """The commit is there."""
        self._records.save(record.run_id, "committed", Mark())
        self._point("committed durable")
        self.forget()

    def undone(self, record: CommitRecord) -> None:
        """The commit is taken back."""
        self._records.drop(record.run_id, "committed")
        self.forget()

    def forget(self) -> None:
        """Nothing is in progress."""
        with suppress(FileNotFoundError):
            os.unlink(self._pending)
        sync_folder(self._folder)
        self._point("commit settled")

    @property
    def open(self) -> bool:
        """Whether something is in progress."""
        return os.path.exists(self._pending)

    def interrupted(self) -> CommitRecord | None:
        """What is in progress. Raises `WorldFault` if its record is damaged."""
        try:
            with open(self._pending, "rb") as file:
                return CommitRecord.model_validate_json(file.read())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise WorldFault("the record of an interrupted commit is damaged; delete .harness/commit") from error

    def made(self, run_id: str) -> CommitRecord | None:
        """The commit of a run that stands."""
        if self._records.load(run_id, "committed", Mark) is None:
            return None
        return self._records.load(run_id, "commit", CommitRecord)
