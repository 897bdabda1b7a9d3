"""The tools for later: schedule, schedule_list, schedule_remove."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from referee.actions.plan import PlanTask, ReadSchedule, Unplan
from referee.domain.observation import Observation, failed
from referee.domain.risk import Risk
from referee.domain.schedule import Planned
from referee.tools.room import Room
from referee.tools.tool import tool
from referee.tools.words import counted


@tool("time", Risk.HOST)
def schedule(
    room: Room,
    when: Annotated[str, Field(max_length=60, description="2030-12-31T09:00 (UTC), every 30m, or five cron fields")],
    task: Annotated[str, Field(min_length=1, max_length=2_000)],
) -> Observation:
    """Plan a task for another agent, at a time; at least 5 minutes lie between two runs.

    Not for waiting in this run: use job_wait.
    """
    entry = room.run.perform(PlanTask(when=when, task=task, by=f"{room.run.id}/{room.run.here}"))
    return Observation(text=f"[planned as {entry.id}, first {_moment(entry)}; a worker of the user's begins it]")


@tool("time", Risk.READ)
def schedule_list(room: Room) -> Observation:
    """List what is planned here. Not for what is to be done now: use todo."""
    entries = room.run.perform(ReadSchedule())
    rows = [f"{p.id}\t{p.when}\t{_moment(p)}\t{' '.join(p.task.split())[:120]}" for p in entries]
    return Observation(text="\n".join([*rows, f"[{counted(len(rows), 'task')} planned]"]))


@tool("time", Risk.HOST)
def schedule_remove(room: Room, id: Annotated[str, Field(min_length=1, max_length=80)]) -> Observation:
    """Drop a planned task by its id. Not for tasks that you know nothing of."""
    if not room.run.perform(Unplan(entry=id)):
        return failed(f"nothing is planned under {id}; schedule_list names what is")
    return Observation(text=f"[{id} is no longer planned]")


def _moment(entry: Planned) -> str:
    return "over" if entry.due is None else f"{datetime.fromtimestamp(entry.due, UTC):%Y-%m-%d %H:%M} UTC"
