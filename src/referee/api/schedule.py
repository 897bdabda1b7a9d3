"""Tasks of a repository that are begun at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from referee.adapters.schedule import ScheduleFile
from referee.api.repairs import agent, fix
from referee.config import load
from referee.domain.errors import Cancelled, Suspended, UsageError
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.schedule import Last, Planned, begun, planned
from referee.domain.task import Task
from referee.ports import Progress
from referee.wiring import Desk


def schedule(repo: str = ".") -> tuple[Planned, ...]:
    """Everything planned, what is due next first."""
    with Desk(repo, load(repo)) as desk:
        return tuple(sorted(_file(desk).all(), key=lambda p: (p.due is None, p.due or 0.0, p.id)))


def plan_task(
    when: str, task: str, repo: str = ".", *, flow: Literal["agent", "fix"] = "agent", targets: Sequence[str] = ()
) -> Planned:
    """Plan a task. Raises `UsageError` for a time that cannot be."""
    with Desk(repo, load(repo)) as desk:
        try:
            entry = planned(when, task, desk.clock.now(), flow, tuple(targets))
        except ValueError as wrong:
            raise UsageError(str(wrong)) from None
        _file(desk).change(lambda all_: (*all_, entry))
        return entry


def unplan(entry_id: str, repo: str = ".") -> Planned:
    """Drop an entry. Raises `UsageError` if there is none of that id."""
    with Desk(repo, load(repo)) as desk:
        found = next((p for p in _file(desk).all() if p.id == entry_id), None)
        if found is None:
            raise UsageError(f"nothing is planned under {entry_id}; see `referee schedule list`")
        _file(desk).change(lambda all_: [p for p in all_ if p.id != entry_id])
        return found


def work(repo: str = ".", progress: Progress | None = None) -> tuple[Planned, ...]:
    """Begin everything that is due, one after the other; what was begun, as it is now.

    It is marked as begun before it runs: one that a crash cuts off is resumed by hand, never begun twice.
    """
    done = []
    for entry in _due(repo):
        last = _run(entry, repo, progress)
        done.append(_ended(entry, last, repo))
        if last.words == StopReason.HUMAN_ABORT.value:
            raise Cancelled("stopped by a person")
    return tuple(done)


def next_due(repo: str = ".") -> float | None:
    """Seconds until something is due, not negative; None if nothing is planned."""
    with Desk(repo, load(repo)) as desk:
        times = [p.due for p in _file(desk).all() if p.due is not None]
        return max(0.0, min(times) - desk.clock.now()) if times else None


def _due(repo: str) -> tuple[Planned, ...]:
    taken: list[Planned] = []

    def take(entries: Sequence[Planned]) -> Sequence[Planned]:
        now = desk.clock.now()
        after = {p.id: begun(p, now) for p in entries}
        taken.extend(a for a in after.values() if a is not None)
        return [after[p.id] or p for p in entries]

    with Desk(repo, load(repo)) as desk:
        if any(p.due is not None and p.due <= desk.clock.now() for p in _file(desk).all()):
            _file(desk).change(take)
    return tuple(taken)


def _run(entry: Planned, repo: str, progress: Progress | None) -> Last:
    with Desk(repo, load(repo)) as desk:
        began = desk.clock.now()
    try:
        task = Task(repo=repo, text=entry.task, targets=entry.targets)
        outcome: Outcome = (agent if entry.flow == "agent" else fix)(task, load(repo), progress)
    except Suspended as waiting:
        return Last(began=began, words=f"waits for a person: {waiting}")
    except UsageError as wrong:
        return Last(began=began, words=f"it could not begin: {wrong}")
    return Last(began=began, run_id=outcome.report.run_id, words=outcome.stop_reason.value)


def _ended(entry: Planned, last: Last, repo: str) -> Planned:
    ended = entry.model_copy(update={"last": last})
    with Desk(repo, load(repo)) as desk:
        _file(desk).change(lambda all_: [p.model_copy(update={"last": last}) if p.id == entry.id else p for p in all_])
    return ended


def _file(desk: Desk) -> ScheduleFile:
    return ScheduleFile(os.path.join(desk.state, "schedule.json"))
