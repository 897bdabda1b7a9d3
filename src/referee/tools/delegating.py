"""The tools that hand work to others: agent and workflow."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from referee.domain.observation import Observation
from referee.domain.risk import Risk
from referee.tools.room import Part, Room
from referee.tools.tool import tool

MOST = 4


class Wanted(BaseModel):
    """One part of the work; who does it sees this text and the files, nothing else."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    task: Annotated[str, Field(min_length=1, max_length=4_000)]
    context: Annotated[str, Field(max_length=8_000, description="what they must know")] = ""
    write: Annotated[bool, Field(description="take over their changes")] = False


@tool("delegation", Risk.SCRATCH)
def agent(room: Room, tasks: Annotated[list[Wanted], Field(min_length=1, max_length=MOST)]) -> Observation:
    """Hand parts of the work to other agents, at the same time, each on a copy; they come back with conclusions only.

    For searches that read much, and parts that touch different files. Not for parts that depend on each other.
    """
    return room.delegate(room, tuple(Part(task=t.task, context=t.context, write=t.write) for t in tasks))


@tool("delegation", Risk.READ)
def workflow(
    room: Room,
    file: Annotated[str, Field(min_length=1, description="a Python file with main(flow)")],
    args: dict[str, Any] = {},  # noqa: B006 - read only
) -> Observation:
    """Run a workflow file: steps by agents, check and bash, as it says. A person must allow its text first.

    Not for a script: use bash. Not for one part of the work: use agent.
    """
    return room.play(room, room.located(file), json.dumps(args, sort_keys=True))
