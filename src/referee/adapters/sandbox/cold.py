"""Warm jobs for backends that cannot keep a process: each job starts the script anew."""

from __future__ import annotations

from referee.domain.errors import UsageError
from referee.ports import Command, Execution, Job, Sandbox


class ColdJobs:
    """The same results as a warm process, at the price of an interpreter's start and imports per job."""

    def __init__(self, sandbox: Sandbox, command: Command) -> None:
        if command.egress:
            raise UsageError("a warm process has no way out; run the command by itself")
        self._sandbox, self._command = sandbox, command

    def run(self, job: Job) -> Execution:
        """See `Warm.run`."""
        argv = (*self._command.argv, *job.argv)
        fresh = {"argv": argv, "patch": job.patch, "limits": job.limits, "channel": True}
        return self._sandbox.run(self._command.model_copy(update=fresh))

    def close(self) -> None:
        """Nothing is kept."""
