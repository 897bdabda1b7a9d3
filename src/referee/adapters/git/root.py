"""Paths below a folder, walked by descriptors: no symlink is followed and nothing outside is reached."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from referee.adapters.git.entry import EXECUTABLE, FILE, SYMLINK, Entry, object_name
from referee.adapters.git.names import shown
from referee.domain.errors import UsageError

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
CONTENT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
CHUNK = 1 << 20
BLOCKED = Entry(mode="blocked")
DIRECTORY = Entry(mode="directory")
SPECIAL = Entry(mode="special")


class Root:
    """A folder bound by identity: if another takes its place, every operation refuses (case A43).

    `given` is the path it was reached by, which may be a symlink or a folder inside.
    """

    def __init__(self, path: bytes, algorithm: str, *, given: bytes | None = None) -> None:
        self.path = path
        self.algorithm = algorithm
        self._given = os.path.abspath(given or path)
        self._fd = os.open(path, FOLDER)
        self._identity = _identity(os.fstat(self._fd))
        self._given_identity = _identity(os.stat(self._given))

    @property
    def identity(self) -> str:
        """Device and inode, as `device:inode`."""
        return self._identity

    @property
    def device(self) -> int:
        """The device the folder is on."""
        return os.fstat(self._fd).st_dev

    def check(self) -> None:
        """Raises `UsageError` if the path no longer leads to the folder that was opened."""
        try:
            same = _identity(os.lstat(self.path)) == self._identity
            same = same and _identity(os.stat(self._given)) == self._given_identity
        except OSError:
            same = False
        if not same:
            raise UsageError(
                f"{shown(self.path)} was moved or replaced during the run; start again in the folder that is there now"
            )

    @contextmanager
    def parent(self, path: bytes) -> Iterator[tuple[int, bytes]]:
        """A descriptor of the folder that holds `path`, and its last name.

        Raises FileNotFoundError if a folder is missing, NotADirectoryError if something else (a symlink) is in
        its place.
        """
        fd, name = self._open(path)
        try:
            yield fd, name
        finally:
            os.close(fd)

    @contextmanager
    def parent_or_nearest(self, path: bytes) -> Iterator[tuple[int, bytes]]:
        """Like `parent`, but the nearest folder that exists where folders are missing."""
        while True:
            try:
                fd, name = self._open(path)
                break
            except FileNotFoundError:
                path = path.rpartition(b"/")[0]
        try:
            yield fd, name
        finally:
            os.close(fd)

    def observe(self, path: bytes) -> Entry | None:
        """What stands at `path`; None if nothing does. Symlinks are reported, never followed."""
        try:
            with self.parent(path) as (fd, name):
                return observe(fd, name, self.algorithm)
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            return BLOCKED

    def holds(self, path: bytes, entry: Entry | None) -> bool:
        """Whether exactly `entry` stands at `path`. What should not be there is not read, however large it is."""
        if entry is not None:
            return self.observe(path) == entry
        try:
            self.stat(path)
        except (FileNotFoundError, NotADirectoryError) as error:
            return isinstance(error, FileNotFoundError)
        return False

    def stat(self, path: bytes) -> os.stat_result:
        """The facts of what stands at `path`, without following it."""
        with self.parent(path) as (fd, name):
            return os.stat(name, dir_fd=fd, follow_symlinks=False)

    def folder(self, path: bytes) -> int:
        """A descriptor of a folder below this one, for the caller to close; empty for the root itself."""
        with self.parent(path + b"/." if path else b".") as (fd, _):
            return os.dup(fd)

    def close(self) -> None:
        """Let go of the folder."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _open(self, path: bytes) -> tuple[int, bytes]:
        *folders, name = path.split(b"/")
        fd = os.dup(self._fd)
        try:
            for folder in folders:
                fd = _step(fd, folder)
        except BaseException:
            os.close(fd)
            raise
        return fd, name


def observe(fd: int, name: bytes, algorithm: str) -> Entry | None:
    """What stands at `name` in an open folder."""
    try:
        facts = os.stat(name, dir_fd=fd, follow_symlinks=False)
        if stat.S_ISDIR(facts.st_mode):
            return DIRECTORY
        if stat.S_ISLNK(facts.st_mode):
            return Entry(mode=SYMLINK, oid=object_name(algorithm, "blob", os.readlink(name, dir_fd=fd)))
        if not stat.S_ISREG(facts.st_mode):
            return SPECIAL
        return _regular(fd, name, algorithm)
    except FileNotFoundError:
        return None


def remove(fd: int, name: bytes) -> None:
    """Delete a file or a folder with all in it. Never follows a symlink or enters another file system (case D10)."""
    facts = os.stat(name, dir_fd=fd, follow_symlinks=False)
    if not stat.S_ISDIR(facts.st_mode):
        os.unlink(name, dir_fd=fd)
        return
    if facts.st_dev != os.fstat(fd).st_dev:
        raise OSError(errno.EXDEV, "another file system is mounted here", name)
    inner = os.open(name, FOLDER, dir_fd=fd)
    try:
        with os.scandir(inner) as entries:
            names = [os.fsencode(e.name) for e in entries]
        for entry in names:
            remove(inner, entry)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=fd)


def write_all(fd: int, data: bytes) -> None:
    """Write every byte, or raise."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _regular(parent: int, name: bytes, algorithm: str) -> Entry:
    fd = os.open(name, CONTENT, dir_fd=parent)
    with open(fd, "rb") as file:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            return SPECIAL
        mode = EXECUTABLE if facts.st_mode & 0o100 else FILE
        return Entry(mode=mode, oid=_blob(algorithm, file, facts.st_size))


def _blob(algorithm: str, file: BinaryIO, size: int) -> str:
    """The name of a file's content, of any size; a name that no blob has if it grows or shrinks meanwhile."""
    digest = hashlib.new(algorithm, b"blob %d\0" % size, usedforsecurity=False)
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _step(fd: int, folder: bytes) -> int:
    try:
        inner = os.open(folder, FOLDER, dir_fd=fd)
    except OSError as error:
        if error.errno == errno.ELOOP:  # O_NOFOLLOW met a symlink
            raise NotADirectoryError(errno.ENOTDIR, "a symlink", folder) from error
        raise
    os.close(fd)
    return inner


def _identity(facts: os.stat_result) -> str:
    return f"{facts.st_dev}:{facts.st_ino}"
