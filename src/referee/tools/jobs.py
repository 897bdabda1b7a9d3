"""The tools for background jobs: job_read, job_wait, job_kill, job_list."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from referee.actions.jobs import AskJob
from referee.domain.changes import lines_of
from referee.domain.observation import Observation, failed
from referee.domain.risk import Risk
from referee.ports import JobState
from referee.tools.room import Room
from referee.tools.tool import tool
from referee.tools.words import both_ends, readable

SHOWN_CHARS = 20_000


@tool("execution", Risk.READ)
def job_read(
    room: Room, job: str, since: Annotated[int, Field(ge=0, description="bytes seen already")] = 0
) -> Observation:
    """Show what a background job has written and whether it still runs. Not for waiting: use job_wait."""
    return _told(job, room.run.perform(AskJob(job=room.job_id(job))), since)


@tool("execution", Risk.READ)
def job_wait(room: Room, job: str, timeout: Annotated[int, Field(ge=1, le=600)] = 60) -> Observation:
    """Wait until a background job has ended, at most timeout seconds. Not for looking in between: use job_read."""
    return _told(job, room.run.perform(AskJob(job=room.job_id(job), what="wait", seconds=timeout)), 0)


@tool("execution", Risk.SCRATCH)
def job_kill(room: Room, job: str) -> Observation:
    """End a background job. Not for tidying up: all jobs end with your work."""
    return _told(job, room.run.perform(AskJob(job=room.job_id(job), what="kill")), 0)


@tool("execution", Risk.READ)
def job_list(room: Room) -> Observation:
    """List your background jobs. Not for their output: use job_read."""
    rows = []
    for name in room.jobs:
        state = room.run.perform(AskJob(job=room.job_id(name)))
        rows.append(f"{name}: {_how(state)}, {state.total} bytes of output")
    return Observation(text="\n".join([*rows, f"[{len(rows)} jobs]"]))


def _told(job: str, state: JobState, since: int) -> Observation:
    if not state.known:
        return failed(f"there is no job {job} now; one that was started before an interruption has ended with it")
    first = state.total - len(state.output)
    fresh = state.output[max(0, since - first) :]
    text, _ = readable(fresh)
    meta = [f"{job}: {_how(state)}", f"{state.seconds} s", f"bytes {max(since, first)}-{state.total}"]
    shown = both_ends(text, SHOWN_CHARS).rstrip("\n")
    return Observation(text="\n".join(part for part in (shown, f"[{'; '.join(meta)}]") if part))


def _how(state: JobState) -> str:
    if state.running:
        return "running"
    ended = state.ended
    if ended is None:
        return "killed"
    if ended.killed_by:
        return f"killed by {ended.killed_by}"
    last = ended.channel.splitlines()[-1:]
    code = lines_of(last[0])[0].exit if last else None
    return "ended, its time was over" if code is None else f"ended with exit code {code}"
