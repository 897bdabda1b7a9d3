"""Making what was written outlive a power cut."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

MOST = 12  # threads that wait at once; more cost more than they gain


@contextmanager
def synced(folder: str | bytes) -> Iterator[None]:
    """Make the names in a folder durable once the block has ended well; that it can be opened is known before."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_folder(path: str | bytes) -> None:
    """Make the names in a folder durable."""
    with synced(path):
        pass


def sync_folders(*paths: bytes) -> None:
    """Make the names in several folders durable at once."""
    with ExitStack() as opened:
        fds = []
        for path in paths:
            fds.append(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            opened.callback(os.close, fds[-1])
        sync_together(fds)


def sync_together(descriptors: Sequence[int]) -> None:
    """Make open files and folders durable at once: the disk serves many that wait together as fast as a few."""
    if len(descriptors) == 1:
        os.fsync(descriptors[0])
    elif descriptors:
        with ThreadPoolExecutor(min(len(descriptors), MOST), thread_name_prefix="sync") as pool:
            list(pool.map(lambda fd: os.fsync(fd), descriptors))


def sync_file_system(folder: int) -> None:
    """Make everything written to the file system of an open folder durable."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "syncfs"):
        os.sync()
    elif libc.syncfs(folder):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
