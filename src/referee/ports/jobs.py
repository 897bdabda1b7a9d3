"""Commands that run on while others do, and end with the process that started them."""

from __future__ import annotations

from typing import Protocol

from referee.domain.value import Value
from referee.ports.sandbox import Command, Execution, Job


class JobState(Value):
    """A background job as it is now: its output so far, how much there was, and how it ended, once it has.

    `known` is False for one that this process did not start: it ended with the process that did.
    """

    name: str
    known: bool = True
    running: bool = False
    output: bytes = b""
    total: int = 0
    seconds: float = 0.0
    ended: Execution | None = None


class Jobs(Protocol):
    """Background jobs of a run, each in a sandbox of its own. All of them end with `close`."""

    def start(self, name: str, command: Command, job: Job) -> None:
        """Start `job` on a process of its own. Raises `WorldFault` if the sandbox cannot."""
        ...

    def look(self, name: str) -> JobState: ...
    def wait(self, name: str, seconds: float) -> JobState:
        """The same, when it has ended or `seconds` are over."""
        ...

    def kill(self, name: str) -> JobState: ...
    def names(self) -> tuple[str, ...]: ...
    def close(self) -> None: ...
