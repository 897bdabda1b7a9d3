"""A sandbox that runs nothing: a function plays the commands."""

from __future__ import annotations

from collections.abc import Callable

from referee.ports import Command, Execution, Isolation, Job, Level, Warm

FAKE = Isolation(backend="fake", level=Level.FULL)
Play = Callable[[Command], Execution]


class FakeSandbox:
    """`play` answers every command; `commands` remembers them."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.commands: list[Command] = []

    @property
    def isolation(self) -> Isolation:
        """Claims to be full, for tests of what happens then."""
        return FAKE

    def run(self, command: Command) -> Execution:
        """Ask the function."""
        self.commands.append(command)
        return self._play(command)

    def warm(self, command: Command) -> Warm:
        """A warm process that asks the function for each job."""
        return _FakeWarm(self, command)

    def close(self) -> None:
        """Nothing to close."""


class _FakeWarm:
    def __init__(self, sandbox: FakeSandbox, command: Command) -> None:
        self._sandbox, self._command = sandbox, command

    def run(self, job: Job) -> Execution:
        argv = (*self._command.argv, *job.argv)
        return self._sandbox.run(self._command.model_copy(update={"argv": argv, "patch": job.patch}))

    def close(self) -> None:
        """Nothing to close."""


def ended(exit_code: int, stdout: bytes = b"", stderr: bytes = b"") -> Execution:
    """An execution that ended by itself."""
    return Execution(exit_code=exit_code, stdout=stdout, stderr=stderr, isolation=FAKE)
