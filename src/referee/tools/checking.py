"""The tool that asks the judge."""

from __future__ import annotations

from referee.domain.observation import Observation
from referee.domain.risk import Risk
from referee.tools.room import Room
from referee.tools.tool import tool


@tool("execution", Risk.READ, needs="judge")
def check(room: Room, targets: list[str] | None = None) -> Observation:
    """Ask the judge about the files as they are now: what fails, compressed. This alone says whether it works.

    With targets (test ids) only those, else every check. Not for exploring: use bash.
    """
    return room.place.examine(room.run, room.tree, tuple(targets or ()))
