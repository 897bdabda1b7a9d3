"""Tasks that an agent plans for a later time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from referee.domain.errors import Rejected
from referee.domain.finding import Finding, FindingKind
from referee.domain.schedule import Planned, planned
from referee.kernel.action import Action, Effect
from referee.ports import World

MOST = 20  # entries of a repository; an agent does not fill it up


class ReadSchedule(Action[tuple[Planned, ...]]):
    """What is planned in this repository."""

    name: ClassVar[str] = "read_schedule"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[type] = tuple[Planned, ...]

    def perform(self, world: World) -> tuple[Planned, ...]:
        """All of it."""
        return world.surroundings.planned()


class PlanTask(Action[Planned]):
    """Plan one task. `by` is the place in the run that wants it: a crash never plans it twice."""

    name: ClassVar[str] = "plan_task"
    effect: ClassVar[Effect] = Effect.LAND
    result_type: ClassVar[type] = Planned

    when: str
    task: str
    by: str

    def perform(self, world: World) -> Planned:
        """The new entry. Raises `Rejected` for a time that cannot be, or if the schedule is full."""
        try:
            entry = planned(self.when, self.task, world.clock.now(), "agent").model_copy(update={"by": self.by})
        except ValueError as wrong:
            raise _refused(str(wrong)) from None

        def with_it(entries: Sequence[Planned]) -> Sequence[Planned]:
            if len(entries) >= MOST:
                raise _refused(f"{len(entries)} tasks are planned already; remove one first")
            return (*entries, entry)

        world.surroundings.plan(with_it)
        return entry

    def recover(self, world: World) -> Planned | None:
        """The entry, if it is there."""
        return next((p for p in world.surroundings.planned() if p.by == self.by), None)


class Unplan(Action[bool]):
    """Drop an entry of the schedule."""

    name: ClassVar[str] = "unplan"
    effect: ClassVar[Effect] = Effect.LAND
    result_type: ClassVar[type] = bool

    entry: str

    def perform(self, world: World) -> bool:
        """Whether there was one."""
        there = any(p.id == self.entry for p in world.surroundings.planned())
        world.surroundings.plan(lambda entries: [p for p in entries if p.id != self.entry])
        return there

    def recover(self, world: World) -> bool | None:
        """That it is gone says that an earlier try took effect."""
        return None if any(p.id == self.entry for p in world.surroundings.planned()) else True


def _refused(why: str) -> Rejected:
    return Rejected((Finding(kind=FindingKind.UNAPPLIABLE, check="schedule", rule="schedule", message=why),))
