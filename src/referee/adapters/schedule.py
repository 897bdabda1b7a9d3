"""The schedule of a repository in one file, changed by one at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Sequence

from pydantic import TypeAdapter, ValidationError

from referee.adapters.store.blobs import write_whole
from referee.domain.errors import UsageError, WorldFault
from referee.domain.schedule import Planned

_ENTRIES = TypeAdapter(tuple[Planned, ...])
Change = Callable[[Sequence[Planned]], Sequence[Planned]]


class ScheduleFile:
    """`path` is a JSON file, made when something is planned first."""

    def __init__(self, path: str) -> None:
        self._path = path

    def all(self) -> tuple[Planned, ...]:
        """Everything planned. Raises `UsageError` if the file is damaged."""
        try:
            with open(self._path, "rb") as file:
                return _ENTRIES.validate_json(file.read())
        except FileNotFoundError:
            return ()
        except ValidationError:
            raise UsageError(f"{self._path} is damaged; move it away, and plan again what is to run") from None
        except OSError as error:
            raise WorldFault(f"{self._path} cannot be read: {error}") from error

    def change(self, change: Change) -> None:
        """Replace what is planned by what `change` makes of it, while nobody else does."""
        try:
            with open(f"{self._path}.lock", "w", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                write_whole(os.path.abspath(self._path), _ENTRIES.dump_json(tuple(change(self.all())), indent=1))
        except OSError as error:
            raise WorldFault(f"{self._path} could not be written: {error}") from error
