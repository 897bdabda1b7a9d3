"""The fork server: keeps one supervisor ready for the next request, until whoever asks is gone."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket

from . import confine, init, kernel, seccomp, supervise
from .ground import Fenced, Ground, Host, Namespaces, Owner

_REST = 8  # milliseconds in which a command that was just taken has the machine to itself
_LOWEST = 10  # descriptors of requests start here, so that arranging 0, 1, 2, … overwrites none


def main(owner: Owner, ground: str) -> None:
    """Serve on standard input, a socket, until it closes or the parent process ends; commands run as `owner`.

    `ground` is what they stand on: `namespaces` of their own, the bare `host`, or the host behind a `fence`.
    """
    requests = socket.socket(fileno=os.dup(0))
    watched = os.pidfd_open(os.getppid())
    os.dup2(os.open("/dev/null", os.O_RDWR), 0)
    if owner is not None and ground == "namespaces":
        confine.become(*owner)
    gc.freeze()
    gc.disable()
    serve(requests, _ground(ground, owner), watched)


def _ground(name: str, owner: Owner) -> Ground:
    if name == "namespaces":
        return Namespaces()
    return Fenced(owner) if name == "fence" else Host(owner)


def serve(requests: socket.socket, ground: Ground, watched: int = -1) -> init.Call | None:
    """Returns None when there is nobody left to serve, and a call in the child that is to make it."""
    ended = _ends_of_children()
    _fill_low_descriptors()
    seccomp.program(kernel.ARCH)  # which every child would have to work out otherwise
    taken, into = os.pipe()
    poll = select.poll()
    for fd in (ended, taken, watched):
        if fd >= 0:
            poll.register(fd, select.POLLIN)
    spare = 0
    while True:
        # A spare has the request to itself; without one, a waiting request must not wait longer.
        poll.register(requests, select.POLLIN if spare == 0 else 0)
        ready = dict(poll.poll(None if spare else _REST))
        if watched in ready or ready.get(requests.fileno(), 0) & select.POLLHUP:
            return None
        if ended in ready:
            os.read(ended, 512)
            spare = 0 if spare in _reap() else spare
        if taken in ready:
            os.read(taken, 1)
            spare = 0
        elif spare == 0:
            parent, spare = os.getpid(), os.fork()
            if spare == 0:
                os.close(taken)
                _forget_signals()
                return supervise.supervise(parent, requests, into, ground)


def _ends_of_children() -> int:
    """A descriptor that becomes readable whenever a child has ended."""
    out, into = os.pipe()
    for fd in (out, into):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(into, warn_on_full_buffer=False)
    return out


def _forget_signals() -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _fill_low_descriptors() -> None:
    while os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC) < _LOWEST:
        pass


def _reap() -> set[int]:
    """Collect children that have ended."""
    gone = set()
    with contextlib.suppress(ChildProcessError):
        while True:
            pid = os.waitpid(-1, os.WNOHANG)[0]
            if pid == 0:
                break
            gone.add(pid)
    return gone
