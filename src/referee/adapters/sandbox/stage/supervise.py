"""The process outside a sandbox that owns it: starts it, measures it, ends it, and reports how it went."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import time
from typing import NoReturn

from . import init, kernel, watch
from .ground import Ground
from .passing import forward, receive
from .request import Bounds, decode

_SETUP_SECONDS = 30.0
_CROWDED_LOOKS = 2  # a tree that stays at its limit of processes is killed


class Report:
    """How a command ended, as the harness is told."""

    def __init__(self) -> None:
        self.fault: str | None = None
        self.killed_by: str | None = None
        self.exit_code: int | None = None
        self.left = False
        self.cpu = 0.0
        self.peak = 0
        self.seconds = 0.0

    def send(self, control: socket.socket) -> None:
        with contextlib.suppress(OSError):
            control.sendall(json.dumps(vars(self)).encode())


def supervise(parent: int, requests: socket.socket, taken: int, ground: Ground) -> init.Call:
    """In a fresh child of `parent`: get ready, take one request, run it. Returns only in a `call`'s own process.

    What can be done ahead is done before the request comes; a byte on `taken` says that it has.
    """
    link, fault = None, None
    try:
        kernel.die_with_parent()
        ground.enter()
        kernel.die_with_parent()  # again: the new credentials undid it
        if os.getppid() != parent:
            os._exit(1)
        link, pid = _fork_init()
    except Exception as e:  # whatever it is, the harness must hear of it
        fault, pid = init.words(e), -1
    if pid != 0 or link is None:
        numbers = receive(requests)
        if not numbers:
            os._exit(0)
        os.write(taken, b"t")
        os.close(taken)
        requests.close()
        _follow(numbers, link, pid, fault, ground)
    requests.close()
    return ground.run(link)


def _fork_init() -> tuple[socket.socket, int]:
    """Fork the namespace's init; our link to it, and its process id (0 in init itself)."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # which keeps events apart
    pid = os.fork()
    if pid == 0:
        ours.close()
        kernel.die_with_parent()  # had the parent died before this, the link would say so
        return theirs, 0
    theirs.close()
    return ours, pid


def _follow(numbers: list[int], link: socket.socket | None, pid: int, fault: str | None, ground: Ground) -> NoReturn:
    """See one request through."""
    report = Report()
    control = socket.socket(fileno=os.dup(numbers[1]))
    if link is None:
        report.fault = fault
        report.send(control)
        os._exit(1)
    with contextlib.suppress(OSError):  # init may have died; its last event says why
        forward(link, numbers)
    request, _ = decode(numbers[0])
    for fd in numbers:
        os.close(fd)
    _Supervisor(request.bounds, control, link, (ground, pid), report).run()


class _Supervisor:
    def __init__(
        self, bounds: Bounds, control: socket.socket, link: socket.socket, started: tuple[Ground, int], report: Report
    ) -> None:
        self._bounds, self._control, self._link, self._report = bounds, control, link, report
        self._ground, self._pid = started
        self._tree: watch.Tree | None = None
        self._pace = watch.Pace()
        self._began = time.monotonic()
        self._deadline: float | None = self._began + _SETUP_SECONDS
        self._own_cpu = 0.0
        self._crowded = 0
        self._ended = False

    def run(self) -> NoReturn:
        poll = select.poll()
        for wire in (self._link, self._control):
            poll.register(wire.fileno(), select.POLLIN)
        while not self._ended:
            ready = [fd for fd, _ in poll.poll(self._patience())]
            if self._link.fileno() in ready:
                self._heard(self._link.recv(4096))
            if self._control.fileno() in ready and not self._ended:
                self._kill(self._order())
            if not self._ended:
                self._look()
        self._finish()

    def _patience(self) -> float:
        """Milliseconds to wait for news."""
        if self._tree is not None:
            return self._pace.wait() * 1000
        return 1000.0 if self._deadline is None else max(0.0, self._deadline - time.monotonic()) * 1000

    def _order(self) -> str:
        """What the harness wants this killed for; it is gone if it says nothing."""
        return self._control.recv(64).decode() or "harness"

    def _heard(self, event: bytes) -> None:
        """Take one event of init; an empty one says that init has died."""
        kind = event[:1]
        if kind == b"S":
            self._own_cpu = init.started_fields(event[1:])
            self._started()
        elif kind == b"E":
            status, self._report.left, self._report.cpu, self._report.peak = init.ended_fields(event[1:])
            self._note(status)
            self._ended = True
            if not self._report.left:
                self._empty()
        elif kind == b"F":
            self._report.fault = event[1:].decode("utf-8", "replace")
            self._ended = True
        elif self._tree is None:
            self._report.fault = "its first process died while it was being set up"
            self._ended = True
        else:
            self._kill("signal:SIGKILL")

    def _started(self) -> None:
        self._began = time.monotonic()
        wall = self._bounds.wall
        self._deadline = None if wall is None else self._began + wall
        self._tree = self._ground.tree(self._pid)
        self._pace = watch.Pace()

    def _note(self, status: int) -> None:
        """Translate the wait status of the command."""
        if os.WIFEXITED(status):
            self._report.exit_code = os.WEXITSTATUS(status)
            if self._report.exit_code and self._ground.disk_full(self._bounds.disk, ()):
                self._report.exit_code, self._report.killed_by = None, "disk"
            return
        number = os.WTERMSIG(status)
        limit = self._bounds.cpu
        names = {signal.SIGXCPU: "cpu", signal.SIGXFSZ: "disk"}
        if number == signal.SIGKILL and limit is not None and self._report.cpu >= limit:
            self._report.killed_by = "cpu"
        else:
            self._report.killed_by = names.get(signal.Signals(number), f"signal:{signal.Signals(number).name}")

    def _look(self) -> None:
        """Measure the tree and end it if it is over a limit."""
        now = time.monotonic()
        if self._deadline is not None and now >= self._deadline:
            if self._tree is None:
                self._report.fault = f"the sandbox was not ready after {_SETUP_SECONDS:.0f} s"
            self._kill("wall")
            return
        if self._tree is None or self._pace.wait():
            return
        sample = self._tree.sample()
        bounds = self._bounds
        self._crowded = self._crowded + 1 if sample.tasks >= bounds.processes else 0
        self._report.cpu = max(self._report.cpu, sample.cpu - self._own_cpu)
        if self._tree.exceeds(sample, bounds.memory):
            self._kill("memory")
        elif bounds.cpu is not None and sample.cpu - self._own_cpu > bounds.cpu:
            self._kill("cpu")
        elif self._crowded >= _CROWDED_LOOKS:
            self._kill("processes")
        elif self._ground.disk_full(bounds.disk, sample.pids):
            self._kill("disk")
        self._pace.looked(now)

    def _kill(self, reason: str) -> None:
        self._report.killed_by = reason
        self._ended = True

    def _empty(self) -> NoReturn:
        """Nothing of the command is left but `init` itself: the harness need not wait for what we take down."""
        report = self._report
        report.seconds = time.monotonic() - self._began
        report.peak = max(report.peak, self._tree.peak if self._tree else 0)
        report.send(self._control)
        self._control.shutdown(socket.SHUT_RDWR)
        self._ground.end(self._pid)
        os.wait4(self._pid, 0)
        os._exit(0)

    def _finish(self) -> NoReturn:
        """Kill what is left, wait until all of it is gone, and report."""
        self._ground.end(self._pid)
        self._report.seconds = time.monotonic() - self._began
        _, _, used = os.wait4(self._pid, 0)
        report = self._report
        report.cpu = max(report.cpu, used.ru_utime + used.ru_stime - self._own_cpu)
        report.peak = max(used.ru_maxrss * 1024, self._tree.peak if self._tree else 0)
        report.send(self._control)
        os._exit(0)
