"""The user-namespace backend: no program but Python itself, and the most that an ordinary user can isolate."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading

from referee.adapters.sandbox.environment import environment
from referee.adapters.sandbox.forkserver import ForkServer
from referee.adapters.sandbox.stage import request as wire
from referee.domain.errors import UsageError, WorldFault
from referee.domain.patch import Patch
from referee.ports import Command, Execution, Isolation, Level, Limits, Warm

ROOTS_STAND_IN = (65532, 65532)  # who commands run as when the harness runs as root
_LEAST_ADDRESS_SPACE = 3 << 29
_HERE = os.path.dirname(os.path.abspath(__file__))
_BOOT = "import sys; sys.path.insert(0, {path!r}); from stage import server; server.main()"


def sandbox_owner() -> tuple[int, int] | None:
    """The user and group that must own a base's files for commands to change them; None for our own."""
    return ROOTS_STAND_IN if os.geteuid() == 0 else None


class UsernsSandbox:
    """One fork server, started on first use; one fork of it per command."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._jobs: socket.socket | None = None
        self._closed = False

    @property
    def isolation(self) -> Isolation:
        """Files, network, processes and limits, all of them."""
        return Isolation(backend="userns", level=Level.FULL)

    def run(self, command: Command) -> Execution:
        """See `Sandbox.run`."""
        contents = patch_contents(command.patch)
        return self._forkserver().run(request_for(command, "exec"), contents, command.limits)

    def warm(self, command: Command) -> Warm:
        """See `Sandbox.warm`."""
        raise NotImplementedError

    def close(self) -> None:
        """End the server and all it still runs."""
        with self._lock:
            self._closed = True
            if self._jobs is not None:
                self._jobs.close()
            if self._server is not None:
                self._server.kill()
                self._server.wait()
            self._jobs = self._server = None

    def _forkserver(self) -> ForkServer:
        with self._lock:
            if self._closed:
                raise WorldFault("this sandbox is closed")
            if self._jobs is None:
                self._server, self._jobs = _start_server()
            return ForkServer(self._jobs, self.isolation)


def _start_server() -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with contextlib.closing(theirs):
        boot = _BOOT.format(path=_HERE)
        log = tempfile.TemporaryFile()  # noqa: SIM115 - read when the server ends unasked
        server = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", "-c", boot],
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env={},
            cwd="/",
            start_new_session=True,
        )
    return server, ours


def patch_contents(patch: Patch) -> list[bytes]:
    """The new contents of a patch, in its order."""
    return [c.after.data for c in patch.changes if c.after is not None]


def request_for(command: Command, kind: str) -> wire.Request:
    """What the fork server is asked to do for `command`. Raises `UsageError` for a command that makes no sense."""
    if not command.argv:
        raise UsageError("no command given; say what to run, as in `referee sandbox -- ls`")
    if command.patch.changes and command.base is None:
        raise UsageError("a patch needs a base to be applied to")
    base = command.base
    return wire.Request(
        kind=kind,
        argv=command.argv,
        env=environment(command.env),
        cwd=command.cwd,
        bounds=bounds_for(command.limits),
        binds=tuple(wire.Bind(m.source, m.target) for m in command.mounts),
        lower=wire.Lower(base.path, base.mount_at, base.protected) if base else None,
        changes=changes_of(command.patch),
        channel=command.channel,
        owner=sandbox_owner(),
    )


def changes_of(patch: Patch) -> tuple[wire.Change, ...]:
    """A patch without its contents."""
    return tuple(
        wire.Change(c.path, None) if c.after is None else wire.Change(c.path, len(c.after.data), c.after.executable)
        for c in patch.changes
    )


def bounds_for(limits: Limits) -> wire.Bounds:
    """Limits as the fork server knows them. Raises `UsageError` for an address space too small to be sound."""
    space = limits.address_space_bytes
    if space is not None and space < _LEAST_ADDRESS_SPACE:
        raise UsageError("address_space_bytes is below 1.5 GiB, which runtimes reserve untouched; raise or drop it")
    return wire.Bounds(
        wall=limits.wall_seconds,
        cpu=limits.cpu_seconds,
        memory=limits.memory_bytes,
        address_space=space,
        file=limits.file_bytes,
        disk=limits.disk_bytes,
        processes=limits.processes,
        open_files=limits.open_files,
    )
