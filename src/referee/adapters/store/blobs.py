"""Content-addressed bytes on disk: written beside, synced, renamed; verified whenever they are read.

A blob that may be lost with the power is renamed first and synced later, together with others.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Collection
from contextlib import ExitStack, suppress

from referee.adapters.sync import sync_folder, sync_together, synced
from referee.domain.errors import WorldFault

FEW = 24  # blobs synced at once


class Blobs:
    """Blobs by SHA-256 in a folder, two levels deep."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lasting: set[str] = set()  # put by this process, and on the disk
        self._loose: set[str] = set()  # put by this process, and perhaps not

    def _path(self, digest: str) -> str:
        return os.path.join(self._folder, digest[:2], digest[2:])

    def put(self, data: bytes, *, durable: bool = True) -> str:
        """Store `data`; its digest. A torn file from an earlier crash is replaced."""
        digest = hashlib.sha256(data).hexdigest()
        path = self._path(digest)
        try:
            if not _whole(path, digest):
                self._write(path, data, durable)
                (self._lasting if durable else self._loose).add(digest)
            elif durable and digest not in self._lasting:
                self._sync([digest])
        except OSError as error:
            raise WorldFault(f"could not keep a blob in {self._folder}: {error}") from error
        return digest

    def _write(self, path: str, data: bytes, durable: bool) -> None:
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            if durable:
                sync_folder(self._folder)
        if durable:
            write_whole(path, data)
        else:
            _write(path, data, sync=False)

    def sync(self) -> None:
        """Make all blobs durable that were put. Raises `WorldFault` if the disk refuses."""
        try:
            loose = sorted(self._loose)
            for start in range(0, len(loose), FEW):
                self._sync(loose[start : start + FEW])
        except OSError as error:
            raise WorldFault(f"could not keep blobs in {self._folder}: {error}") from error

    def _sync(self, digests: Collection[str]) -> None:
        paths = [path for path in map(self._path, digests) if os.path.exists(path)]
        with ExitStack() as opened:
            fds = []
            for path in (*paths, *sorted({os.path.dirname(p) for p in paths}), *([self._folder] if paths else [])):
                fds.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
                opened.callback(os.close, fds[-1])
            sync_together(fds)
        self._loose.difference_update(digests)
        self._lasting.update(digests)

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
        _write(path, data, sync=True)


def _write(path: str, data: bytes, *, sync: bool) -> None:
    fd, beside = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".referee-")
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            if sync:
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
