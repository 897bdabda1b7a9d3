"""The fork server: one child per request, until whoever asks is gone."""

from __future__ import annotations

import array
import contextlib
import os
import select
import signal
import socket

from . import init, kernel, supervise

_LOWEST = 10  # descriptors of requests start here, so that arranging 0, 1, 2, … overwrites none
_MOST = 8


def main() -> None:
    """Serve on standard input, a socket, until it closes or the parent process ends."""
    requests = socket.socket(fileno=os.dup(0))
    watched = os.pidfd_open(os.getppid())
    os.dup2(os.open("/dev/null", os.O_RDWR), 0)
    serve(requests, watched)


def serve(requests: socket.socket, watched: int = -1) -> init.Call | None:
    """Fork a supervisor for each message. Returns None when told to stop, a call in the child that makes it."""
    ended = _ends_of_children()
    _fill_low_descriptors()
    poll = select.poll()
    for fd in (requests.fileno(), ended, watched):
        if fd >= 0:
            poll.register(fd, select.POLLIN)
    while True:
        ready = [fd for fd, _ in poll.poll()]
        if ended in ready:
            os.read(ended, 512)
            _reap()
        if watched in ready:
            return None
        if requests.fileno() in ready:
            numbers = _receive(requests)
            if not numbers:
                return None
            child, call = _fork(requests, numbers)
            if child:
                return call


def _ends_of_children() -> int:
    """A descriptor that becomes readable whenever a child has ended."""
    out, into = os.pipe()
    for fd in (out, into):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(into, warn_on_full_buffer=False)
    return out


def _fill_low_descriptors() -> None:
    while os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC) < _LOWEST:
        pass


def _fork(requests: socket.socket, numbers: list[int]) -> tuple[bool, init.Call | None]:
    parent = os.getpid()
    if os.fork():
        for fd in numbers:
            os.close(fd)
        return False, None
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    requests.close()
    kernel.die_with_parent()
    return True, supervise.supervise(parent, numbers)


def _receive(requests: socket.socket) -> list[int]:
    """The descriptors of the next request; none if the other side has gone."""
    room = socket.CMSG_LEN(_MOST * array.array("i").itemsize)
    _, ancillary, _, _ = requests.recvmsg(1, room, socket.MSG_CMSG_CLOEXEC)
    numbers = array.array("i")
    for level, kind, raw in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers.frombytes(raw[: len(raw) - len(raw) % numbers.itemsize])
    return list(numbers)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
