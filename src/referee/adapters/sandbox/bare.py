"""No isolation at all: a private copy, limits, and the end of the whole tree. Only for those who ask for it."""

from __future__ import annotations

import sys
import threading

from referee.adapters.sandbox import forkserver
from referee.adapters.sandbox.cold import ColdJobs
from referee.adapters.sandbox.placed import placed
from referee.adapters.sandbox.requests import run_request
from referee.domain.errors import WorldFault
from referee.ports import Command, Execution, Isolation, Level


class BareSandbox:
    """Runs commands as the caller, on the host. Mounted paths are named by their sources instead.

    What holds: limits on time, memory, processes, file size and output; the death of every descendant; the
    base stays as it was, because the command works on a copy. What does not: everything else.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
        self._lock = threading.Lock()
        self._server: forkserver.ForkServer | None = None

    @property
    def isolation(self) -> Isolation:
        """None."""
        return Isolation(backend="bare", level=Level.NONE)

    def run(self, command: Command) -> Execution:
        """See `Sandbox.run`. Raises `WorldFault` for a command with a list of destinations: nothing would hold it."""
        if command.egress:
            raise WorldFault(
                "without isolation no command can be held to a list of domains; drop --allow-degraded or the list"
            )
        with self._lock:
            if self._server is None:
                self._server = forkserver.ForkServer(None, ground="host", python=self._python)
            jobs = self._server.jobs
        with placed(command) as (there, _):
            return forkserver.run(jobs, run_request(there), [], command.limits, self.isolation)

    def warm(self, command: Command) -> ColdJobs:
        """See `Sandbox.warm`: each job is a cold run."""
        return ColdJobs(self, command)

    def close(self) -> None:
        """End the server and all it still runs."""
        with self._lock:
            if self._server is not None:
                self._server.close()
                self._server = None
