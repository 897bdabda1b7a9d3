"""The tools that plan: todo, note."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from referee.domain.observation import Note, Observation, Todo
from referee.domain.risk import Risk
from referee.tools.room import Room
from referee.tools.tool import tool
from referee.tools.words import counted


class Item(BaseModel):
    """One line of the plan."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    text: Annotated[str, Field(min_length=1, max_length=300)]
    state: Literal["open", "doing", "done"] = "open"


@tool("planning", Risk.READ)
def todo(room: Room, items: Annotated[list[Item], Field(max_length=50)]) -> Observation:
    """Set the plan: the whole list each time, one item doing. It survives when old output is dropped.

    Not for trivial work of one or two calls.
    """
    plan = tuple(Todo(text=i.text, state=i.state) for i in items)
    done = sum(i.state == "done" for i in plan)
    return Observation(text=f"[plan: {done} of {counted(len(plan), 'item')} done]", todo=plan)


@tool("planning", Risk.READ)
def note(
    room: Room,
    text: Annotated[str, Field(min_length=1, max_length=2_000)],
    kind: Literal["decision", "attempt", "fact"] = "fact",
) -> Observation:
    """Keep a conclusion: a decision, an attempt and why it failed, or a fact. It survives when old output is dropped.

    Not for what a file or the plan says already.
    """
    return Observation(text=f"[noted, {kind}]", note=Note(text=text, kind=kind))
