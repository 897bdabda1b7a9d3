"""Content-addressed bytes on disk: written beside, synced, renamed; verified whenever they are read."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress

from referee.adapters.sync import sync_folder, synced
from referee.domain.errors import WorldFault


class Blobs:
    """Blobs by SHA-256 in a folder, two levels deep."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def _path(self, digest: str) -> str:
        return os.path.join(self._folder, digest[:2], digest[2:])

    def put(self, data: bytes) -> str:
        """Store `data`; its digest. A torn file from an earlier crash is replaced."""
        digest = hashlib.sha256(data).hexdigest()
        path = self._path(digest)
        try:
            if _whole(path, digest):
                return digest
            if not os.path.isdir(os.path.dirname(path)):
                os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
                sync_folder(self._folder)
            write_whole(path, data)
        except OSError as error:
            raise WorldFault(f"could not keep a blob in {self._folder}: {error}") from error
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes behind `digest`. Raises `WorldFault` if they are missing or not what was stored."""
        try:
            with open(self._path(digest), "rb") as file:
                data = file.read()
        except OSError as error:
            raise WorldFault(f"blob {digest[:12]} is missing: {error}") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise WorldFault(f"blob {digest[:12]} is damaged; its run can be shown but not resumed")
        return data


def write_whole(path: str, data: bytes) -> None:
    """Write a file beside, sync and rename it, durably; nothing is left of one that failed. Raises OSError."""
    with synced(os.path.dirname(path) or "."):
        fd, beside = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".referee-")
        try:
            with open(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(beside, path)
        except BaseException:
            with suppress(OSError):  # a disk that refuses to delete as well keeps a file nobody reads
                os.unlink(beside)
            raise


def _whole(path: str, digest: str) -> bool:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest() == digest
    except FileNotFoundError:
        return False
