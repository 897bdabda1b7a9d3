"""Time, and everything of the world that a run is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from referee.domain.question import Consent
from referee.ports.jobs import Jobs
from referee.ports.model import Model
from referee.ports.outside import OutsideTool
from referee.ports.sandbox import Command, Sandbox, Warm
from referee.ports.signing import Signatures
from referee.ports.store import Shelf
from referee.ports.surroundings import Surroundings
from referee.ports.workspace import Workspace


class Clock(Protocol):
    """Time. `monotonic` for durations, `now` in seconds since the epoch for records."""

    def monotonic(self) -> float: ...
    def now(self) -> float: ...
    def sleep(self, seconds: float) -> None: ...


class Equipment(Protocol):
    """Everything of the world that a run is given."""

    @property
    def workspace(self) -> Workspace: ...
    @property
    def sandbox(self) -> Sandbox: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def shelf(self) -> Shelf: ...
    @property
    def signatures(self) -> Signatures: ...
    @property
    def surroundings(self) -> Surroundings:
        """What the repository and the person bring along."""
        ...

    @property
    def jobs(self) -> Jobs:
        """The background jobs of this process."""
        ...

    def model(self, name: str) -> Model: ...
    def outside(self, tool: str) -> OutsideTool:
        """The outside tool of that name. Raises `UsageError` if none is registered."""
        ...

    def warm(self, command: Command) -> Warm:
        """The warm process for `command`, started on first use and kept for the run."""
        ...


class World(Equipment, Protocol):
    """What an action may touch while it is performed: the equipment, for as long as the budget lasts."""

    @property
    def consent(self) -> Consent | None:
        """What a person said to this action, if they were asked."""
        ...

    def seconds_left(self) -> float:
        """Wall-clock seconds until the run must stop, never negative."""
        ...


Progress = Callable[[str, Mapping[str, Any]], None]
"""Told what happens as it happens: an event's name and its facts. Must not raise."""
