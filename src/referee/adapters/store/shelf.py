"""Facts about trees on disk, kept for a day: whatever cannot be read back whole is as if it were not there."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress

from referee.domain.errors import WorldFault
from referee.ports import Clock

DAY = 86_400.0
_MOST = 64  # facts kept; the oldest go first
_MARK = 64  # hexadecimal digits of the content's SHA-256 in front of it


class FileShelf:
    """One file per fact, named by the digest of its key. `edition` is the judge's: another judge, other facts."""

    def __init__(self, folder: str, clock: Clock, edition: str = "") -> None:
        self._folder, self._clock, self._edition = folder, clock, edition

    def get(self, key: str) -> bytes | None:
        """The fact, unless it is missing, damaged, or older than a day."""
        path = self._path(key)
        try:
            if self._clock.now() - os.stat(path).st_mtime > DAY:
                return None
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return None  # not remembered: it is found out again
        mark, content = data[:_MARK], data[_MARK:]
        return content if mark == hashlib.sha256(content).hexdigest().encode() else None

    def put(self, key: str, data: bytes) -> None:
        """Keep a fact. Raises `WorldFault` if the disk refuses."""
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            descriptor, beside = tempfile.mkstemp(dir=self._folder)
            with open(descriptor, "wb") as file:
                file.write(hashlib.sha256(data).hexdigest().encode() + data)
            now = self._clock.now()
            os.utime(beside, (now, now))
            os.rename(beside, self._path(key))
            self._thin()
        except OSError as error:
            raise WorldFault(f"could not keep a fact in {self._folder}: {error}") from error

    def _thin(self) -> None:
        facts = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # another process thins, too
                    if entry.is_file(follow_symlinks=False):
                        facts.append((entry.stat().st_mtime, entry.path))
        for _, path in sorted(facts)[:-_MOST]:
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, hashlib.sha256(f"{self._edition}\n{key}".encode()).hexdigest())
