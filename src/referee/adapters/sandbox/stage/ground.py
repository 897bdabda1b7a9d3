"""What a supervisor stands on: namespaces of its own, or the bare host."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from typing import NoReturn, Optional, Protocol

from . import confine, held, init, kernel, landlock, stricter, watch

_PLACE = "/sys"  # hidden, in our own mount namespace, by what another program is to find there
_SWEEP_SECONDS, _NAP = 5.0, 0.002
Owner = Optional[tuple[int, int]]  # noqa: UP045 - evaluated, and Python 3.9 knows no other way


class Ground(Protocol):
    """How to start, measure and end a tree of processes."""

    def enter(self) -> None:
        """Called once in the supervisor, before it forks."""

    def run(self, link: socket.socket) -> init.Call:
        """Called in that fork: take a request from `link` and see it through."""

    def tree(self, pid: int) -> watch.Tree:
        """What to measure, once the command runs under `pid`."""

    def disk_full(self, disk: int, pids: tuple[str, ...]) -> bool:
        """Whether there is no room left where the command, now these processes, may write `disk` bytes."""

    def end(self, pid: int) -> None:
        """Kill `pid` and everything below it. It is reaped by the caller; the rest is gone on return."""


class Namespaces:
    """All namespaces new: the end of their first process is the end of all."""

    def enter(self) -> None:
        confine.enter_namespaces()

    def run(self, link: socket.socket) -> init.Call:
        return init.run(link)

    def tree(self, pid: int) -> watch.Tree:
        return watch.Tree()

    def disk_full(self, disk: int, pids: tuple[str, ...]) -> bool:
        room = os.statvfs("/tmp")  # noqa: S108 - one file system holds all that can be written
        return room.f_bfree == 0 or room.f_ffree == 0

    def end(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Host:
    """No namespaces, but for those that the command itself (such as bubblewrap) makes.

    As root with an `owner`, what the request shows is hung under a place that this owner can walk to.
    """

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._rooms = held.Rooms()

    def enter(self) -> None:
        kernel.adopt_orphans()
        if self._owner is not None:
            kernel.unshare(kernel.CLONE_NEWNS)
            kernel.make_private("/")
            kernel.mount("tmpfs", _PLACE, kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=1m")

    def run(self, link: socket.socket) -> NoReturn:
        tell = init.Events(link)
        try:
            kernel.adopt_orphans()
            request, _, files = init.next_request(link)
            if self._owner is not None:
                _hang(files.trees)
                confine.become(*self._owner)
            leader = init.spawn(request, files, own_count=False)
        except Exception as e:  # whatever it is, the supervisor must hear of it
            tell.fault(init.words(e))
            os._exit(1)
        files.close_streams()
        tell.started(time.process_time())
        init.outlive(leader, tell)

    def tree(self, pid: int) -> watch.Tree:
        return watch.Descendants(pid)

    def disk_full(self, disk: int, pids: tuple[str, ...]) -> bool:
        if pids:
            self._rooms.meet(pids[-1])
        return self._rooms.full(disk)

    def end(self, pid: int) -> None:
        """Kill descendants until there are none: each that is orphaned becomes ours."""
        own = watch.Descendants(os.getpid())
        deadline = time.monotonic() + _SWEEP_SECONDS
        while time.monotonic() < deadline:
            names = [name for name in own.names()[1:] if int(name) != pid]
            for name in (*names, str(pid)):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(int(name), signal.SIGKILL)
            if not names:
                return
            _reap_all_but(pid, names)
            time.sleep(_NAP)


class Fenced(Host):
    """The bare host behind Landlock and both system call filters; whoever is root becomes `owner` first."""

    def enter(self) -> None:
        kernel.adopt_orphans()

    def run(self, link: socket.socket) -> NoReturn:
        tell = init.Events(link)
        try:
            kernel.adopt_orphans()
            request, _, files = init.next_request(link)
            if self._owner is not None:
                confine.become(*self._owner)
            kernel.set_dumpable(False)  # or the command, who is of the same user, could write to this process's memory
            confine.offer_to_the_oom_killer()
            lower = request.lower
            landlock.confine(
                tuple(b.source for b in request.binds),
                request.writable,
                lower.path if lower else "",
                lower.protected if lower else (),
            )
            confine.give_up(filtered=True)
            stricter.install(kernel.landlock_version())
            leader = init.spawn(request, files, own_count=False)
        except Exception as e:  # whatever it is, the supervisor must hear of it
            tell.fault(init.words(e))
            os._exit(1)
        files.close_streams()
        tell.started(time.process_time())
        init.outlive(leader, tell)


def _hang(trees: list[int]) -> None:
    """Show each tree at a numbered place."""
    for number, tree in enumerate(trees):
        path = f"{_PLACE}/{number}"
        if os.path.isdir(f"/proc/self/fd/{tree}"):
            os.mkdir(path)
        else:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        kernel.attach(tree, place)
        os.close(place)


def _reap_all_but(pid: int, names: list[str]) -> None:
    for name in names:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(int(name), os.WNOHANG)
