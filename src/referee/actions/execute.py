"""Run commands in the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, TypeVar

from referee.domain.errors import Exhausted
from referee.domain.reason import StopReason
from referee.domain.value import Value
from referee.kernel.action import Action, Effect
from referee.ports import Command, Execution, Job, Limits, World

T = TypeVar("T")


class Execute(Action[Execution]):
    """One command in the sandbox; never longer than what is left of the run's time."""

    name: ClassVar[str] = "execute"
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[type] = Execution

    command: Command

    def perform(self, world: World) -> Execution:
        """Run it. Raises `WorldFault` if the sandbox cannot start and `Exhausted` if the run's time ended it."""
        limits = within(self.command.limits, world)
        return in_time(
            world.sandbox.run(self.command.model_copy(update={"limits": limits})), self.command.limits, limits
        )


class Executions(Value):
    """One execution per job, in the jobs' order."""

    items: tuple[Execution, ...]


class ExecuteWarm(Action[Executions]):
    """Several jobs on one warm process, `parallel` at a time; each sees nothing of the others."""

    name: ClassVar[str] = "execute_warm"
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[type] = Executions

    command: Command
    jobs: tuple[Job, ...]
    parallel: int = 1

    def perform(self, world: World) -> Executions:
        """Run them. Raises `WorldFault` if the sandbox cannot start and `Exhausted` if the run's time ended one."""
        warm = world.warm(self.command)

        def one(job: Job) -> Execution:
            limits = within(job.limits, world)
            return in_time(warm.run(job.model_copy(update={"limits": limits})), job.limits, limits)

        return _each(one, self.jobs, self.parallel)


class ExecuteEach(Action[Executions]):
    """Several commands, each from a fresh start, `parallel` at a time."""

    name: ClassVar[str] = "execute_each"
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[type] = Executions

    commands: tuple[Command, ...]
    parallel: int = 1

    def perform(self, world: World) -> Executions:
        """Run them. Raises `WorldFault` if the sandbox cannot start and `Exhausted` if the run's time ended one."""
        return _each(lambda command: Execute(command=command).perform(world), self.commands, self.parallel)


def _each(one: Callable[[T], Execution], what: tuple[T, ...], parallel: int) -> Executions:
    if parallel == 1:
        return Executions(items=tuple(map(one, what)))
    with ThreadPoolExecutor(parallel, thread_name_prefix="execute") as pool:
        return Executions(items=tuple(pool.map(one, what)))


def within(limits: Limits, world: World) -> Limits:
    """`limits` with the wall clock cut to what is left of the run, but never to nothing: the gate decides that."""
    left = max(0.1, world.seconds_left())
    return limits if limits.wall_seconds <= left else limits.model_copy(update={"wall_seconds": left})


def in_time(execution: Execution, wanted: Limits, granted: Limits) -> Execution:
    """The execution, unless it was the end of the run that cut it off: that says nothing about what was run."""
    if execution.killed_by == "wall" and granted.wall_seconds < wanted.wall_seconds:
        raise Exhausted(StopReason.TIMEOUT, "the run's time ended while a command ran")
    return execution
