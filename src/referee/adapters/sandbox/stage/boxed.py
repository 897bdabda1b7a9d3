"""The first process of a container: runs one request in it, under a supervisor of its own, and tells how it ended.

A container engine passes no descriptors, so everything comes through files that are mounted: the request, and pipes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import time
from typing import NoReturn

from . import confine, door, init, kernel, launch, patch, places, supervise
from .ground import Host
from .passing import forward
from .request import Request, decode

HERE = "/run/referee/box"  # where the harness shows its files: request, secret, report, key, frames
SECRET_BYTES = 32
_LOWEST = 10  # see server: descriptors of the command are put below
_OOM = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")


class Boxed(Host):
    """A container that an engine has built, but for the base, the patch and the filter."""

    def __init__(self, writable: tuple[str, ...]) -> None:
        super().__init__(None)
        self._writable = writable

    def run(self, link: socket.socket) -> NoReturn:
        tell = init.Events(link)
        try:
            kernel.adopt_orphans()
            kernel.set_dumpable(False)  # or the command, who is of the same user, could write to this process's memory
            os.umask(0o022)
            request, offset, files = init.next_request(link)
            if request.lower:
                _copy(request)
                patch.apply(request.lower.mount_at, request.changes, files.contents, offset)
            if not os.path.isdir(request.cwd):
                raise places.Unfit(f"there is no folder {request.cwd!r} inside the sandbox to start in")
            if request.door:
                door.hand_out(files.door)
            confine.give_up(filtered=True)
            leader = init.spawn(request, files, own_count=False)
        except Exception as e:  # whatever it is, the supervisor must hear of it
            tell.fault(init.words(e))
            os._exit(1)
        files.close_streams()
        tell.started(time.process_time())
        init.outlive(leader, tell)

    def disk_full(self, disk: int, pids: tuple[str, ...]) -> bool:
        rooms = [os.statvfs(path) for path in self._writable]
        return any(room.f_bfree == 0 or room.f_ffree == 0 for room in rooms)


def _copy(request: Request) -> None:
    """Copy the base; the places that the engine mounted belong to root, and keep their modes and times."""
    try:
        launch.copy_base(request)
    except shutil.Error as e:
        wrong = [f"{to}: {why}" for _, to, why in e.args[0] if to not in request.writable]
        if wrong:
            raise places.Unfit(f"the base cannot be copied: {wrong[0]}") from e


def main() -> NoReturn:
    """Run the request to its end, report it behind the secret that only the harness and we know, and end."""
    kernel.set_dumpable(False)
    secret = _read(f"{HERE}/secret", SECRET_BYTES)
    body = _high(os.open(f"{HERE}/request", os.O_RDONLY | os.O_CLOEXEC))
    request, _ = decode(body)
    control, theirs = socket.socketpair()
    jobs, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        control.close()
        jobs.close()
        taken = os.open("/dev/null", os.O_WRONLY | os.O_CLOEXEC)
        supervise.supervise(1, asked, taken, Boxed(request.writable))
        os._exit(1)  # for the type checker: a box never returns from its run
    numbers = [body, _high(theirs.detach()), _high(os.dup(1)), _high(os.dup(2))]
    if request.channel:
        numbers.append(_high(os.open(f"{HERE}/key", os.O_RDONLY | os.O_CLOEXEC)))
        numbers.append(_high(os.open(f"{HERE}/frames", os.O_WRONLY | os.O_CLOEXEC)))
    if request.door:
        with socket.socket(socket.AF_UNIX) as gate:
            gate.connect(f"{HERE}/door")
            numbers.append(_high(gate.detach()))
    forward(jobs, numbers)
    for fd in numbers:
        os.close(fd)
    report = b""
    while data := control.recv(1 << 16):
        report += data
    with open(f"{HERE}/report", "wb", buffering=0) as pipe:
        pipe.write(secret + (b"1" if _out_of_memory() else b"0") + report)
    os._exit(0)


def _out_of_memory() -> bool:
    """Whether the kernel had to kill something of this container for its memory."""
    for path in _OOM:
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            return any(name == "oom_kill" and int(count) > 0 for name, count in map(str.split, file))
    return False


def _high(fd: int) -> int:
    """`fd`, moved out of the way of those that a command is given."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _LOWEST)
    os.close(fd)
    return moved


def _read(path: str, size: int) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read(size)
