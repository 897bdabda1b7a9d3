"""Background jobs: started, looked at, waited for, killed. What is seen of one is in the record, the job is not."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from referee.kernel.action import Action, Effect
from referee.ports import Command, Job, JobState, World


class StartJob(Action[None]):
    """Start a command that runs on. A resumed run does not start it again: it ended with the process before."""

    name: ClassVar[str] = "start_job"
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[Any] = type(None)

    job: str
    command: Command
    work: Job

    def perform(self, world: World) -> None:
        """Raises `WorldFault` if the sandbox cannot start it."""
        world.jobs.start(self.job, self.command, self.work)


class AskJob(Action[JobState]):
    """Look at a job, wait for it for at most `seconds`, or end it."""

    name: ClassVar[str] = "ask_job"
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[type] = JobState

    job: str
    what: Literal["look", "wait", "kill"] = "look"
    seconds: float = 0.0

    def perform(self, world: World) -> JobState:
        """As it is now; a wait ends with the run's time."""
        if self.what == "kill":
            return world.jobs.kill(self.job)
        if self.what == "wait":
            return world.jobs.wait(self.job, min(self.seconds, max(0.1, world.seconds_left())))
        return world.jobs.look(self.job)
