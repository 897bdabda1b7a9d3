"""The time of a run, and what an action is given of the world: the equipment, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable

from referee.domain.question import Consent
from referee.ports import (
    Clock,
    Command,
    Equipment,
    Jobs,
    Model,
    OutsideTool,
    Sandbox,
    Shelf,
    Signatures,
    Surroundings,
    Warm,
    Workspace,
)


class Timer:
    """The run's wall clock: it goes on where the journal's last entry left it."""

    def __init__(self, clock: Clock, already: float) -> None:
        self._clock, self._start = clock, clock.monotonic() - already
        self.settled = 0.0

    def live(self) -> float:
        """Seconds spent so far, now."""
        return self._clock.monotonic() - self._start

    def settle(self, elapsed: float) -> None:
        """Remember the position of the last ending; decisions use it, so that a replay decides the same."""
        self.settled = elapsed


class Bounded:
    """The equipment of a run together with the time it has left: the `World` an action is given."""

    def __init__(self, equipment: Equipment, seconds_left: Callable[[], float], consent: Consent | None = None) -> None:
        self._equipment, self.seconds_left, self.consent = equipment, seconds_left, consent

    @property
    def workspace(self) -> Workspace:
        return self._equipment.workspace

    @property
    def sandbox(self) -> Sandbox:
        return self._equipment.sandbox

    @property
    def clock(self) -> Clock:
        return self._equipment.clock

    @property
    def shelf(self) -> Shelf:
        return self._equipment.shelf

    @property
    def signatures(self) -> Signatures:
        return self._equipment.signatures

    @property
    def surroundings(self) -> Surroundings:
        return self._equipment.surroundings

    @property
    def jobs(self) -> Jobs:
        return self._equipment.jobs

    def model(self, name: str) -> Model:
        return self._equipment.model(name)

    def outside(self, tool: str) -> OutsideTool:
        return self._equipment.outside(tool)

    def warm(self, command: Command) -> Warm:
        return self._equipment.warm(command)
