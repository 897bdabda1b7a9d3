"""The Landlock backend: for ordinary users who may make no namespaces and have no program that may."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace

from referee.adapters.sandbox import forkserver
from referee.adapters.sandbox.cold import ColdJobs
from referee.adapters.sandbox.placed import BASE, HOME, TEMPORARY, placed
from referee.adapters.sandbox.requests import check_protected, run_request, sandbox_owner
from referee.adapters.sandbox.stage.request import Bind, Lower, Request
from referee.domain.errors import WorldFault
from referee.ports import Command, Execution, Isolation, Level


class LandlockSandbox:
    """Runs commands on a private copy, behind Landlock and two system call filters.

    What holds: nothing of the host can be written, and only the system and what is mounted can be read; no sockets at
    all; protected paths; limits on time, processor, memory, processes, file size and output; the death of the tree.
    What does not: the tree is not at its own path, paths can be probed for existence, the host's processes can be
    listed, /tmp and /dev/shm cannot be used, no loopback, and disk is limited per file only.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
        self._lock = threading.Lock()
        self._server: forkserver.ForkServer | None = None

    @property
    def isolation(self) -> Isolation:
        """Files and network, in part."""
        return Isolation(backend="landlock", level=Level.PARTIAL)

    def run(self, command: Command) -> Execution:
        """See `Sandbox.run`. Raises `WorldFault` for a command with a list of destinations: there are no sockets."""
        if command.egress:
            raise WorldFault("the Landlock sandbox has no way out to listed domains; empty allow_domains")
        if command.base is not None:
            check_protected(command.base)
        for mount in command.mounts:
            if not os.path.exists(mount.source):
                raise WorldFault(f"the sandbox cannot show {mount.source}: there is no such file or folder")
        with self._lock:
            if self._server is None:
                self._server = forkserver.ForkServer(sandbox_owner(), ground="fence", python=self._python)
            jobs = self._server.jobs
        with placed(command, sandbox_owner()) as (there, private):
            if not os.path.isdir(there.cwd):
                raise WorldFault(f"the sandbox could not be set up: there is no folder {command.cwd!r} to start in")
            return forkserver.run(jobs, _fenced(command, there, private), [], command.limits, self.isolation)

    def warm(self, command: Command) -> ColdJobs:
        """See `Sandbox.warm`: each job is a cold run."""
        return ColdJobs(self, command)

    def close(self) -> None:
        """End the server and all it still runs."""
        with self._lock:
            if self._server is not None:
                self._server.close()
                self._server = None


def _fenced(command: Command, there: Command, private: str) -> Request:
    """What to start, and what it may touch: mounts to read, the copy and the private folders to change."""
    copy = f"{private}/{BASE}"
    shown = {os.path.realpath(m.source) for m in command.mounts}
    request = run_request(there)
    return replace(
        request,
        env={"GIT_CONFIG_NOSYSTEM": "1", **request.env},  # git ends where it may not read the system's
        handed=False,
        binds=tuple(Bind(path, path) for path in sorted(shown)),
        writable=(f"{private}/{HOME}", f"{private}/{TEMPORARY}"),
        lower=Lower(copy, copy, command.base.protected) if command.base else None,
    )
