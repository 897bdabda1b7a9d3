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

from . import confine, init, kernel, view, watch
from .request import Request, decode

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


def supervise(parent: int, numbers: list[int]) -> init.Call | None:
    """In a fresh child of `parent`: run one request. Returns only in a `call`'s own process."""
    control = socket.socket(fileno=os.dup(numbers[1]))
    report = Report()
    try:
        request, offset = decode(numbers[0])
        files = init.Files(numbers, request)
        sources = _enter(request, parent)
        pid, events = _fork_init()
    except Exception as e:  # whatever it is, the harness must hear of it
        report.fault = _words(e)
        report.send(control)
        os._exit(1)
    if pid != 0:
        files.close_streams()
        _Supervisor(request, control, pid, events, report).run()
    control.close()
    return init.run(request, sources, files, offset, events)


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"


def _enter(request: Request, parent: int) -> view.Sources:
    """Leave the host's namespaces, with copies of all that the sandbox will show."""
    if request.owner is not None:
        sources = view.Sources(request)  # as root, who can walk to them
        confine.enter_namespaces(request.owner)
    else:
        confine.enter_namespaces(None)
        sources = view.Sources(request)
    kernel.die_with_parent()
    if os.getppid() != parent:
        os._exit(1)
    return sources


def _fork_init() -> tuple[int, int]:
    """Fork the namespace's init, which starts only once it is sure to die with us; (pid, events)."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # which keeps events apart
    events_out, events_in = ours.detach(), theirs.detach()
    go_out, go_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(events_out)
        os.close(go_in)
        kernel.die_with_parent()
        if not os.read(go_out, 1):
            os._exit(1)
        os.close(go_out)
        return 0, events_in
    for fd in (events_in, go_out):
        os.close(fd)
    os.write(go_in, b"g")
    os.close(go_in)
    return pid, events_out


class _Supervisor:
    def __init__(self, request: Request, control: socket.socket, pid: int, events: int, report: Report) -> None:
        self._bounds, self._control, self._pid = request.bounds, control, pid
        self._events, self._report = events, report
        self._tree: watch.Tree | None = None
        self._pace = watch.Pace()
        self._began = time.monotonic()
        self._deadline: float | None = self._began + _SETUP_SECONDS
        self._own_cpu = 0.0
        self._crowded = 0
        self._ended = False

    def run(self) -> NoReturn:
        poll = select.poll()
        for fd in (self._events, self._control.fileno()):
            poll.register(fd, select.POLLIN)
        while not self._ended:
            ready = [fd for fd, _ in poll.poll(self._patience())]
            if self._events in ready:
                self._heard(os.read(self._events, 4096))
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
            status, self._report.left, self._report.cpu = init.ended_fields(event[1:])
            self._note(status)
            self._ended = True
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
        self._tree = watch.Tree()

    def _note(self, status: int) -> None:
        """Translate the wait status of the command."""
        if os.WIFEXITED(status):
            self._report.exit_code = os.WEXITSTATUS(status)
            if self._report.exit_code and self._disk_full():
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
        elif self._disk_full():
            self._kill("disk")
        self._pace.looked(now)

    def _disk_full(self) -> bool:
        room = os.statvfs("/tmp")  # noqa: S108 - one file system holds all that can be written
        return room.f_bfree == 0 or room.f_ffree == 0

    def _kill(self, reason: str) -> None:
        self._report.killed_by = reason
        self._ended = True

    def _finish(self) -> NoReturn:
        """Kill what is left, wait until all of it is gone, and report."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self._report.seconds = time.monotonic() - self._began
        _, _, used = os.wait4(self._pid, 0)
        report = self._report
        report.cpu = max(report.cpu, used.ru_utime + used.ru_stime - self._own_cpu)
        report.peak = max(used.ru_maxrss * 1024, self._tree.peak if self._tree else 0)
        report.send(self._control)
        os._exit(0)
