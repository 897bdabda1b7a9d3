"""The user-namespace backend: no program but Python itself, and the most that an ordinary user can isolate."""

from __future__ import annotations

import socket
import sys
import threading

from referee.adapters.sandbox import forkserver
from referee.adapters.sandbox.descriptors import Descriptors
from referee.adapters.sandbox.egress import Door, Outside, through
from referee.adapters.sandbox.requests import call_request, contents, run_request, sandbox_owner, serve_request
from referee.adapters.sandbox.stage.request import encode
from referee.adapters.sandbox.streams import drain
from referee.domain.errors import WorldFault
from referee.ports import Command, Execution, Isolation, Job, Level, Limits

_LOAD_SECONDS = 120.0
_LAST_WORDS_SECONDS = 5.0


class UsernsSandbox:
    """One fork server, started on first use; one fork of it per command."""

    def __init__(self, python: str = sys.executable, outside: Outside | None = None) -> None:
        self._python, self._outside = python, outside or Outside()
        self._lock = threading.Lock()
        self._server: forkserver.ForkServer | None = None
        self._warm: list[UsernsWarm] = []
        self._closed = False

    @property
    def isolation(self) -> Isolation:
        """Files, network, processes and limits, all of them."""
        return Isolation(backend="userns", level=Level.FULL)

    def run(self, command: Command) -> Execution:
        """See `Sandbox.run`."""
        request = run_request(command)

        def start(door: Door | None) -> Execution:
            return forkserver.run(self._jobs(), request, contents(command.patch), command.limits, self.isolation, door)

        return through(self._outside, command, start)

    def warm(self, command: Command) -> UsernsWarm:
        """See `Sandbox.warm`."""
        warm = UsernsWarm(command, self.isolation)
        try:
            warm.start(self._jobs())
        except BaseException:
            warm.close()
            raise
        with self._lock:
            self._warm.append(warm)
        return warm

    def close(self) -> None:
        """End the server and all it still runs, warm processes included."""
        with self._lock:
            self._closed = True
            for warm in self._warm:
                warm.close()
            if self._server is not None:
                self._server.close()
                self._server = None

    def _jobs(self) -> socket.socket:
        with self._lock:
            if self._closed:
                raise WorldFault("this sandbox is closed; open another one")
            if self._server is None:
                self._server = forkserver.ForkServer(sandbox_owner(), python=self._python)
            return self._server.jobs


class UsernsWarm:
    """A process inside the sandbox that has loaded its script. Each job is a fork of it in namespaces of its own."""

    def __init__(self, command: Command, isolation: Isolation) -> None:
        self._command, self._isolation = command, isolation
        self._jobs, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control: socket.socket | None = None

    def start(self, server: socket.socket) -> None:
        """Start the process behind `server`. Raises `WorldFault` if the script does not load."""
        request = serve_request(self._command)
        with Descriptors(encode(request, []), Limits(), sandbox_owner()) as held:
            held.add(self._theirs.detach())
            forkserver.submit(held, request, server)
            self._control = held.control.dup()  # whose end ends the process
            report = drain(held.streams, held.control, _LOAD_SECONDS, until=self._jobs)
            if not self._ready():
                report += drain(held.streams, held.control, _LAST_WORDS_SECONDS)
                said = held.stderr.content.decode("utf-8", "replace").strip()
                ended = forkserver.report_of(report) if report else {}
                raise WorldFault(_unready(self._command, said, ended.get("killed_by")))

    def run(self, job: Job) -> Execution:
        """See `Warm.run`."""
        request = call_request(self._command, job)
        return forkserver.run(self._jobs, request, contents(job.patch), job.limits, self._isolation)

    def close(self) -> None:
        """End the process and the jobs it still runs."""
        for end in (self._jobs, self._theirs, self._control):
            if end is not None:
                end.close()

    def _ready(self) -> bool:
        self._jobs.setblocking(False)
        try:
            return self._jobs.recv(16) == b"ready"
        except BlockingIOError:
            return False
        finally:
            self._jobs.setblocking(True)


def _unready(command: Command, said: str, killed_by: str | None) -> str:
    script = command.argv[-1]
    why = said.splitlines()[-1] if said else killed_by or f"it was not ready after {_LOAD_SECONDS:.0f} s"
    return f"the warm process for {script} could not be started: {why}"
