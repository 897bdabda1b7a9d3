"""The tools that ask a person."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from referee.domain.observation import Observation
from referee.domain.risk import Risk
from referee.tools.room import Room
from referee.tools.tool import tool


@tool("escalation", Risk.READ)
def request(
    room: Room,
    what: Annotated[str, Field(min_length=1, description="name of the tool that was denied")],
    why: Annotated[str, Field(min_length=10, max_length=1_000)],
) -> Observation:
    """Ask a person to allow one call of a tool that a rule denies. The work waits for the answer.

    Not for protected files: nobody can allow those here. Not for questions: take the most likely meaning.
    """
    return Observation(text=f"[granted: one call of {what}; a person will see its arguments first]", granted=what)
