"""The first process of a sandbox's pid namespace: builds the view, starts the command, outlives it briefly."""

from __future__ import annotations

import os
import resource
import struct
import time
from typing import NoReturn

from . import confine, kernel, patch, places, system, view
from .request import Request

_GRACE, _NAP = 0.1, 0.005  # seconds in which what the command left may end by itself
_STARTED = struct.Struct("<d")  # CPU seconds
_EXIT = struct.Struct("<iid")  # wait status, whether processes were left, CPU seconds
NOT_FOUND, NOT_STARTED = 127, 126

Call = tuple[str, ...]


class Files:
    """Descriptors that the harness passed along; `key`, `frames` and `jobs` may be absent (-1)."""

    def __init__(self, numbers: list[int], request: Request) -> None:
        self.all = numbers
        self.contents, self.control, self.stdout, self.stderr = numbers[:4]
        rest = numbers[4:]
        self.key, self.frames = (rest.pop(0), rest.pop(0)) if request.channel else (-1, -1)
        self.jobs = rest.pop(0) if request.kind == "serve" else -1

    def close_streams(self) -> None:
        """Let go of what belongs to the command alone, so that its end is seen at the other side."""
        for fd in (self.stdout, self.stderr, self.key, self.frames, self.jobs):
            if fd >= 0:
                os.close(fd)


class Events:
    """What init tells its supervisor, one message each."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fault(self, message: str) -> None:
        os.write(self._fd, b"F" + message.encode("utf-8", "replace")[:2000])

    def started(self, spent: float) -> None:
        """The command was forked; `spent` is init's own CPU time so far."""
        os.write(self._fd, b"S" + _STARTED.pack(spent))

    def ended(self, status: int, left: bool) -> None:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(self._fd, b"E" + _EXIT.pack(status, left, used.ru_utime + used.ru_stime))


def started_fields(raw: bytes) -> float:
    """CPU seconds that init itself had used at an `S` event."""
    return float(_STARTED.unpack(raw)[0])


def ended_fields(raw: bytes) -> tuple[int, bool, float]:
    """Wait status, whether processes were left, and CPU seconds of an `E` event."""
    status, left, cpu = _EXIT.unpack(raw)
    return status, bool(left), cpu


def run(request: Request, sources: view.Sources, files: Files, offset: int, events: int) -> Call | None:
    """Never returns in init; in the command's process it returns a call to make, or replaces the process."""
    tell = Events(events)
    try:
        _prepare(request, sources, files, offset)
        leader = os.fork()
    except Exception as e:  # whatever it is, the supervisor must hear of it
        tell.fault(str(e) if isinstance(e, OSError) else f"{type(e).__name__}: {e}")
        os._exit(1)
    if leader != 0:
        files.close_streams()
        tell.started(time.process_time())
        _outlive(leader, tell)
    return _command(request, files)


def _prepare(request: Request, sources: view.Sources, files: Files, offset: int) -> None:
    kernel.set_dumpable(False)  # or the command could write to this process's memory
    os.umask(0o022)
    confine.loopback_up()
    kernel.set_hostname(system.HOSTNAME)
    view.View(request, sources).enter()
    if request.lower and request.changes:
        patch.apply(request.lower.mount_at, request.changes, files.contents, offset)
    if not os.path.isdir(request.cwd):
        raise places.Unfit(f"there is no folder {request.cwd!r} inside the sandbox to start in")
    confine.give_up(filtered=request.kind != "serve")


def _command(request: Request, files: Files) -> Call | None:
    """Become the command. Whatever fails from here on is the command's own failure."""
    kernel.set_dumpable(True)
    os.setsid()
    os.chdir(request.cwd)
    wanted = [files.stdout, files.stderr]
    if request.channel:
        wanted += [files.key, files.frames]
    if request.kind == "serve":
        wanted = [files.stdout, files.stderr, files.stdout, files.stderr, files.jobs]
    confine.arrange(wanted, "/dev/null")
    confine.offer_to_the_oom_killer()
    confine.reset_signals(python=request.kind == "call")
    if request.kind != "serve":
        confine.limit(request.bounds)
    if request.kind != "call":
        execute(request.argv, request.env)
    os.environ.clear()
    os.environ.update(request.env)
    return request.argv


def execute(argv: tuple[str, ...], env: dict[str, str]) -> NoReturn:
    """Replace this process by a program; 127 and a line on stderr if there is none."""
    try:
        os.execvpe(argv[0], list(argv), env)  # noqa: S606 - no shell is the point
    except OSError as e:
        os.write(2, f"referee: cannot run {argv[0]!r}: {e.strerror}\n".encode("utf-8", "replace"))
        os._exit(NOT_FOUND if places.missing(e) else NOT_STARTED)


def _outlive(leader: int, tell: Events) -> NoReturn:
    """Reap until the command ends and what it left has had its grace; then end, and the namespace with it."""
    pid, status = 0, 0
    while pid != leader:
        pid, status = os.wait()
    tell.ended(status, _others_remain())
    os._exit(0)


def _others_remain() -> bool:
    deadline = time.monotonic() + _GRACE
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(_NAP)
        except ChildProcessError:
            return False
    return True
