"""The first process of a sandbox's pid namespace: builds the view, starts the command, outlives it briefly."""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
import time
from typing import NoReturn

from . import confine, door, kernel, patch, places, system, view
from .passing import receive
from .request import Request, decode

_GRACE, _NAP = 0.1, 0.005  # seconds in which what the command left may end by itself
_STARTED = struct.Struct("<d")  # CPU seconds
_EXIT = struct.Struct("<iidq")  # wait status, whether processes were left, CPU seconds, peak memory in KiB
_NOT_FOUND, _NOT_STARTED = 127, 126
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)  # by Python; a program expects the default

Call = tuple[str, ...]


class Files:
    """Descriptors that the harness passed along; `key`, `frames`, `jobs`, `input`, `door` may be absent (-1)."""

    def __init__(self, numbers: list[int], request: Request) -> None:
        self.contents, self.control, self.stdout, self.stderr, *rest = numbers
        self.key, self.frames = (rest.pop(0), rest.pop(0)) if request.channel else (-1, -1)
        self.jobs = rest.pop(0) if request.kind == "serve" else -1
        self.input = rest.pop(0) if request.fed else -1
        self.door = rest.pop(0) if request.door else -1
        self.extra, self.trees = rest[: request.extra], rest[request.extra :]

    def standard(self, request: Request) -> list[int]:
        """What becomes descriptors 0, 1, 2, … of the command; all of them are far above those."""
        first = self.input if self.input >= 0 else os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        if request.kind == "serve":
            return [first, self.stdout, self.stderr, self.jobs]
        channel = [self.key, self.frames] if request.channel else []
        return [first, self.stdout, self.stderr, *channel, *self.extra]

    def close_streams(self) -> None:
        """Let go of what belongs to the command alone, so that its end is seen at the other side."""
        for fd in (self.stdout, self.stderr, self.key, self.frames, self.jobs, self.input, *self.extra):
            if fd >= 0:
                os.close(fd)


class Events:
    """What init tells its supervisor, one message each."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link

    def fault(self, message: str) -> None:
        """The command cannot be started as asked."""
        self._link.send(b"F" + message.encode("utf-8", "replace")[:2000])

    def started(self, spent: float) -> None:
        """The command was forked; `spent` is init's own CPU time so far."""
        self._link.send(b"S" + _STARTED.pack(spent))

    def ended(self, status: int, left: bool) -> None:
        """The command ended with this wait status; `left` says that others had not."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self._link.send(b"E" + _EXIT.pack(status, left, used.ru_utime + used.ru_stime, used.ru_maxrss))


def started_fields(raw: bytes) -> float:
    """CPU seconds that init itself had used at an `S` event."""
    return float(_STARTED.unpack(raw)[0])


def ended_fields(raw: bytes) -> tuple[int, bool, float, int]:
    """Wait status, whether processes were left, CPU seconds and peak memory in bytes of an `E` event."""
    status, left, cpu, peak = _EXIT.unpack(raw)
    return status, bool(left), cpu, peak * 1024


def run(link: socket.socket) -> Call:
    """Never returns in init; in the process of a `call` it returns what to call."""
    tell = Events(link)
    try:
        root = _prepare()
        request, offset, files = next_request(link)
        _enter(root, request, files, offset)
        leader = os.fork() if request.kind == "call" else spawn(request, files)
    except Exception as e:  # whatever it is, the supervisor must hear of it
        tell.fault(words(e))
        os._exit(1)
    if leader != 0:
        files.close_streams()
        tell.started(time.process_time())
        outlive(leader, tell)
    return _become(request, files)


def next_request(link: socket.socket) -> tuple[Request, int, Files]:
    """Wait for the request that the supervisor passes on, and end if none comes."""
    numbers = receive(link)
    if not numbers:
        os._exit(0)
    request, offset = decode(numbers[0])
    return request, offset, Files(numbers, request)


def words(error: Exception) -> str:
    """An error in a line."""
    return str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"


def _prepare() -> view.View:
    """Do ahead of time what does not depend on the request."""
    kernel.set_dumpable(False)  # or the command could write to this process's memory
    os.umask(0o022)
    confine.loopback_up()
    kernel.set_hostname(system.HOSTNAME)
    root = view.View()
    root.prepare()
    kernel.bound_capabilities()
    return root


def _enter(root: view.View, request: Request, files: Files, offset: int) -> None:
    root.enter(request, files.trees)
    if request.lower and request.changes:
        patch.apply(request.lower.mount_at, request.changes, files.contents, offset)
    if not os.path.isdir(request.cwd):
        raise places.Unfit(f"there is no folder {request.cwd!r} inside the sandbox to start in")
    if request.door:
        door.hand_out(files.door)
    confine.give_up(filtered=request.kind != "serve")


def _become(request: Request, files: Files) -> Call:
    """Turn this fork of a warm process into a job."""
    kernel.set_dumpable(True)
    os.setsid()
    os.chdir(request.cwd)
    confine.offer_to_the_oom_killer()
    confine.arrange(files.standard(request))
    confine.limit(request.bounds)
    return request.argv


def spawn(request: Request, files: Files, own_count: bool = True) -> int:
    """Start a program. What it inherits is set on this process: that is cheaper than a fork of Python."""
    os.chdir(request.cwd)
    confine.offer_to_the_oom_killer()
    if request.kind != "serve":  # whose jobs could not go beyond its own limits
        confine.limit(request.bounds, own_count)
    actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(files.standard(request))]
    program = _program(request.argv[0], request.env)
    try:
        return os.posix_spawn(
            program, request.argv, request.env, file_actions=actions, setsid=True, setsigmask=[], setsigdef=_IGNORED
        )
    except OSError as e:
        status = _complain(request.argv[0], e, files.stderr)
    pid = os.fork()
    if pid == 0:
        os._exit(status)
    return pid


def execute(argv: tuple[str, ...], env: dict[str, str]) -> NoReturn:
    """Turn this process into a program."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(_program(argv[0], env), argv, env)  # noqa: S606 - no shell is the point
    except OSError as e:
        os._exit(_complain(argv[0], e, 2))


def _complain(name: str, error: OSError, stderr: int) -> int:
    """Say that there is no such program; the exit code that shells give then."""
    os.write(stderr, f"referee: cannot run {name!r}: {error.strerror}\n".encode("utf-8", "replace"))
    return _NOT_FOUND if places.missing(error) else _NOT_STARTED


def _program(name: str, env: dict[str, str]) -> str:
    """The path of the program `name`, looked up in the command's own PATH."""
    if "/" in name:
        return name
    found = (f"{folder}/{name}" for folder in env.get("PATH", "").split(":"))
    return next((path for path in found if os.access(path, os.X_OK)), name)


def outlive(leader: int, tell: Events) -> NoReturn:
    """Reap until the command ends and what it left has had its grace; then end, and the namespace with it."""
    pid, status = 0, 0
    while pid != leader:
        pid, status = os.wait()
    tell.ended(status, others_remain())
    os._exit(0)


def others_remain() -> bool:
    """Whether any other child, own or adopted, is still there after the time in which it may end by itself."""
    deadline = time.monotonic() + _GRACE
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(_NAP)
        except ChildProcessError:
            return False
    return True
