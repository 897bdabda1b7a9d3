"""One at a time: who works on a repository holds its lock, which the kernel drops with the process."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from referee.adapters.store.owner import brief, me
from referee.domain.errors import Busy, WorldFault

Tell = Callable[[str], None]


@contextmanager
def turn(path: str, what: str, wait: Tell | None) -> Iterator[None]:
    """Hold the lock at `path` while doing `what` (a noun for others to read).

    If another has it: with `wait` that is told and then waited for, without it `Busy` names the other.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise WorldFault(f"{path} cannot be opened: {error.strerror}") from error
    try:
        _take(fd, path, wait)
        _name(fd, f"{what}, {brief(me())}")
        yield
        _name(fd, "")
    finally:
        os.close(fd)


def _take(fd: int, path: str, wait: Tell | None) -> None:
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as held:
            other = os.pread(fd, 500, 0).decode("utf-8", "replace") or "another referee command"
            if wait is None:
                raise Busy(f"{other} is at work in this repository; wait for it, stop it, or give --wait") from held
        wait(f"waiting for {other}, which is at work in this repository")
        fcntl.flock(fd, fcntl.LOCK_EX)
    except OSError as error:
        raise WorldFault(f"{path} cannot be locked: {error.strerror}") from error


def _name(fd: int, text: str) -> None:
    """Say who has it. A disk too full for that is no reason not to work: the lock itself needs no space."""
    os.ftruncate(fd, 0)
    with suppress(OSError):
        os.pwrite(fd, text.encode("utf-8", "replace"), 0)
