"""Renames between two open folders that neither overwrite nor leave a moment without the file."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from typing import NamedTuple, Protocol

NOREPLACE = 1
EXCHANGE = 2
# A kernel or file system without renameat2 says one of these.
UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
ASIDE = b".aside"

Point = Callable[[str], None]  # told each step that a crash may follow


class Place(NamedTuple):
    """A name in an open folder."""

    folder: int
    name: bytes


class Renames(Protocol):
    """How files change places."""

    def exchange(self, staged: Place, target: Place) -> None:
        """Swap two files. Raises FileNotFoundError if one is missing."""
        ...

    def move(self, source: Place, target: Place) -> None:
        """Move a file to a free name. Raises FileExistsError if it is taken."""
        ...


class Atomic:
    """By renameat2: one step of the kernel each."""

    def exchange(self, staged: Place, target: Place) -> None:
        """Swap two files in one step."""
        _renameat2(staged, target, EXCHANGE)

    def move(self, source: Place, target: Place) -> None:
        """Move to a free name in one step."""
        _renameat2(source, target, NOREPLACE)


class Plain:
    """By links and renames, for file systems without renameat2: the name is never missing, an edit in
    the instant between link and rename is only seen afterwards."""

    def __init__(self, point: Point) -> None:
        self._point = point

    def exchange(self, staged: Place, target: Place) -> None:
        """Link the old file aside, replace it, then give it the staged name; `settle` ends an interrupted one."""
        aside = Place(staged.folder, staged.name + ASIDE)
        _link(target, aside)
        self._point("old file linked")
        os.rename(staged.name, target.name, src_dir_fd=staged.folder, dst_dir_fd=target.folder)
        self._point("file replaced")
        os.rename(aside.name, staged.name, src_dir_fd=aside.folder, dst_dir_fd=staged.folder)

    def move(self, source: Place, target: Place) -> None:
        """Link to the new name, then drop the old one."""
        _link(source, target)
        self._point("file linked")
        os.unlink(source.name, dir_fd=source.folder)


def settle(staged: Place) -> None:
    """End a plain exchange that a crash interrupted: the old file gets the staged name, or its link goes."""
    aside = staged.name + ASIDE
    if not _exists(staged.folder, aside):
        return
    if _exists(staged.folder, staged.name):
        os.unlink(aside, dir_fd=staged.folder)
    else:
        os.rename(aside, staged.name, src_dir_fd=staged.folder, dst_dir_fd=staged.folder)


def renames_for(folder: int, point: Point) -> Renames:
    """The best way the file system of an open folder supports, found by trying."""
    names = (b"probe-a", b"probe-b")
    for name in names:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=folder))
    try:
        Atomic().exchange(Place(folder, names[0]), Place(folder, names[1]))
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        return Plain(point)
    finally:
        for name in names:
            os.unlink(name, dir_fd=folder)
    return Atomic()


def _renameat2(source: Place, target: Place, flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if libc.renameat2(source.folder, source.name, target.folder, target.name, flags):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target.name)


def _link(source: Place, target: Place) -> None:
    os.link(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder, follow_symlinks=False)


def _exists(folder: int, name: bytes) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
