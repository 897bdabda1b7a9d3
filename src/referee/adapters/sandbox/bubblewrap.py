"""The bubblewrap backend, for hosts that let only listed programs make user namespaces."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading

from referee.adapters.sandbox import forkserver
from referee.adapters.sandbox.bubblewrap_arguments import arguments
from referee.adapters.sandbox.cold import ColdJobs
from referee.adapters.sandbox.descriptors import Descriptors, file_with
from referee.adapters.sandbox.egress import Door, Outside, through
from referee.adapters.sandbox.requests import HERE, check_protected, contents, run_request, sandbox_owner
from referee.adapters.sandbox.shown import made_up_etc, prefixes
from referee.adapters.sandbox.stage import kernel, launch, seccomp
from referee.adapters.sandbox.stage.request import Bind, Lower, Request, encode
from referee.adapters.sandbox.stage.view import BASE, STAGE
from referee.adapters.sandbox.streams import Whole, feeder
from referee.domain.errors import WorldFault
from referee.ports import Command, Execution, Isolation, Level, Mount

_SIGNALLED = 128


class BubblewrapSandbox:
    """One bubblewrap per command, never started as root.

    Old versions have no overlay, so the base is copied into a bounded tmpfs: about a second for 10 000 files.
    """

    def __init__(self, program: str = "bwrap", python: str = sys.executable, outside: Outside | None = None) -> None:
        self._program, self._python, self._outside = program, python, outside or Outside()
        self._lock = threading.Lock()
        self._server: forkserver.ForkServer | None = None
        self._etc: tempfile.TemporaryDirectory[str] | None = None

    @property
    def isolation(self) -> Isolation:
        """Files, network, processes and limits, all of them."""
        return Isolation(backend="bubblewrap", level=Level.FULL)

    def run(self, command: Command) -> Execution:
        """See `Sandbox.run`."""
        return through(self._outside, command, lambda door: self._run(command, door))

    def _run(self, command: Command, door: Door | None) -> Execution:
        etc, server = self._started()
        inner = _inner(command)
        outer = self._outer(command, inner, etc)
        with Descriptors(encode(outer, []), command.limits, sandbox_owner()) as held:
            if command.channel:
                held.add_channel()
            if outer.fed and (source := feeder()) is not None:
                held.add_input(source)
            held.add(file_with(encode(inner, contents(command.patch))))
            held.add(_filter())
            ready = held.add_stream(Whole(4096))
            if door is not None:
                held.add(door.hand_over())
            execution = forkserver.carry_out(held, outer, server.jobs, command.limits, self.isolation)
        if ready.content != launch.READY and execution.killed_by is None:
            why = (ready.content or execution.stderr).decode("utf-8", "replace").strip()
            raise WorldFault(f"bubblewrap could not set the sandbox up: {why or 'it gave no reason'}")
        return _translated(execution)

    def warm(self, command: Command) -> ColdJobs:
        """See `Sandbox.warm`: each job is a cold run."""
        return ColdJobs(self, command)

    def close(self) -> None:
        """End the server and all it still runs."""
        with self._lock:
            if self._server is not None:
                self._server.close()
            if self._etc is not None:
                self._etc.cleanup()
            self._server = self._etc = None

    def _started(self) -> tuple[str, forkserver.ForkServer]:
        with self._lock:
            if self._server is None or self._etc is None:
                self._etc = made_up_etc()
                self._server = forkserver.ForkServer(sandbox_owner(), ground="host", python=self._python)
            return f"{self._etc.name}/etc", self._server

    def _outer(self, command: Command, inner: Request, etc: str) -> Request:
        """The request to start bubblewrap itself; it shows what `inner` expects to find."""
        program = shutil.which(self._program)
        if program is None:
            raise WorldFault(f"there is no program {self._program!r}; install the package bubblewrap")
        base, python = command.base, os.path.realpath(self._python)
        shown = [Mount(source=etc, target="/etc"), Mount(source=os.path.join(HERE, "stage"), target=STAGE)]
        shown += [Mount(source=path, target=path) for path in prefixes(python)]
        shown += [Mount(source=base.path, target=BASE)] if base else []
        shown += command.mounts
        handed = sandbox_owner() is not None
        binds = [Bind(m.source, m.target) for m in shown]
        places_ = [Bind(f"/sys/{n}" if handed else b.source, b.target) for n, b in enumerate(binds)]
        first_extra = 5 if command.channel else 3
        argv = arguments(inner, places_, first_extra + 1)
        start = f"import sys; sys.path.insert(0, '/run/referee'); from stage import launch; launch.main({first_extra})"
        return Request(
            kind="exec",
            argv=(program, *argv, "--", python, "-I", "-S", "-B", "-c", start),
            env={"PATH": "/usr/bin:/bin"},
            cwd="/",
            bounds=inner.bounds,
            binds=tuple(binds),
            channel=command.channel,
            handed=handed,
            extra=4 if inner.door else 3,
            fed=feeder() is not None,
        )


def _inner(command: Command) -> Request:
    """What is to run inside, with the base where bubblewrap shows it."""
    request = run_request(command)
    if request.lower is None or command.base is None:
        return request
    check_protected(command.base)
    lower = Lower(BASE, request.lower.mount_at, request.lower.protected)
    return Request(**{**vars(request), "lower": lower})


def _filter() -> int:
    fd = file_with(seccomp.program(kernel.ARCH))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _translated(execution: Execution) -> Execution:
    """Bubblewrap reports a signal as 128 and its number."""
    code = execution.exit_code
    if code is None or code <= _SIGNALLED or code - _SIGNALLED not in set(signal.Signals):
        return execution
    name = signal.Signals(code - _SIGNALLED).name
    reason = {"SIGXCPU": "cpu", "SIGXFSZ": "disk"}.get(name, f"signal:{name}")
    return execution.model_copy(update={"exit_code": None, "killed_by": reason})
