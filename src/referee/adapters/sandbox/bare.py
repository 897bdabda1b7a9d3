"""No isolation at all: a private copy, limits, and the end of the whole tree. Only for those who ask for it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading

from referee.adapters.sandbox import forkserver
from referee.adapters.sandbox.cold import ColdJobs
from referee.adapters.sandbox.descriptors import file_with
from referee.adapters.sandbox.requests import contents, run_request
from referee.adapters.sandbox.stage import patch, places
from referee.adapters.sandbox.stage.request import encode
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
            raise WorldFault("without isolation no command can be held to a list of domains; empty allow_domains")
        with self._lock:
            if self._server is None:
                self._server = forkserver.ForkServer(None, contained=False, python=self._python)
            jobs = self._server.jobs
        with tempfile.TemporaryDirectory(prefix="referee-", ignore_cleanup_errors=True) as private:
            placed = _place(command, private)
            return forkserver.run(jobs, run_request(placed), [], command.limits, self.isolation)

    def warm(self, command: Command) -> ColdJobs:
        """See `Sandbox.warm`: each job is a cold run."""
        return ColdJobs(self, command)

    def close(self) -> None:
        """End the server and all it still runs."""
        with self._lock:
            if self._server is not None:
                self._server.close()
                self._server = None


def _place(command: Command, private: str) -> Command:
    """Lay out files below `private` and name them in the command."""
    moved = {m.target: os.path.abspath(m.source) for m in command.mounts}
    for name in ("home", "tmp"):
        os.mkdir(f"{private}/{name}")
    if command.base is not None:
        copy = f"{private}/base"
        moved[command.base.mount_at] = copy
        try:
            shutil.copytree(command.base.path, copy, symlinks=True)
            _link_mounts(command, copy)
            _patch(command, copy)
        except OSError as e:
            raise WorldFault(f"the base could not be copied: {e}") from e
    env = {name: _moved(value, moved) for name, value in command.env.items()}
    private_env = {"HOME": f"{private}/home", "TMPDIR": f"{private}/tmp"}  # noqa: S108
    return command.model_copy(
        update={
            "argv": tuple(_moved(a, moved) for a in command.argv),
            "cwd": _moved(command.cwd, moved),
            "env": {**private_env, **env},
            "base": None,
            "mounts": (),
            "patch": type(command.patch)(),
        }
    )


def _link_mounts(command: Command, copy: str) -> None:
    for mount in command.mounts:
        if command.base is not None and places.inside(mount.target, command.base.mount_at):
            link = copy + mount.target[len(command.base.mount_at.rstrip("/")) :]
            os.makedirs(os.path.dirname(link), exist_ok=True)
            if not os.path.lexists(link):
                os.symlink(os.path.abspath(mount.source), link)


def _patch(command: Command, copy: str) -> None:
    request = run_request(command)
    new = contents(command.patch)
    body = file_with(encode(request, new))
    try:
        patch.apply(copy, request.changes, body, os.fstat(body).st_size - sum(map(len, new)))
    finally:
        os.close(body)


def _moved(text: str, moved: dict[str, str]) -> str:
    """`text`, or each part of a list of paths in it, with the longest mounted path at its start replaced."""
    parts = text.split(":")
    for n, part in enumerate(parts):
        for target in sorted(moved, key=len, reverse=True):
            if part == target or places.inside(part, target):
                parts[n] = moved[target] + part[len(target) :]
                break
    return ":".join(parts)
