"""Tasks of a repository that are begun at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from referee.api.repairs import agent, fix
from referee.config import load
from referee.domain.errors import Busy, Cancelled, RefereeError, Suspended, UsageError
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.schedule import Last, Planned, begun, planned
from referee.domain.task import Task
from referee.ports import Progress
from referee.wiring import Desk


def schedule(repo: str = ".") -> tuple[Planned, ...]:
    """Everything planned, what is due next first."""
    with Desk(repo, load(repo)) as desk:
        return tuple(sorted(desk.surroundings.planned(), key=lambda p: (p.due is None, p.due or 0.0, p.id)))


def plan_task(
    when: str, task: str, repo: str = ".", *, flow: Literal["agent", "fix"] = "agent", targets: Sequence[str] = ()
) -> Planned:
    """Plan a task. Raises `UsageError` for a time that cannot be."""
    with Desk(repo, load(repo)) as desk:
        try:
            entry = planned(when, task, desk.clock.now(), flow, tuple(targets))
        except ValueError as wrong:
            raise UsageError(str(wrong)) from None
        desk.surroundings.plan(lambda all_: (*all_, entry))
        return entry


def unplan(entry_id: str, repo: str = ".") -> Planned:
    """Drop an entry. Raises `UsageError` if there is none of that id."""
    with Desk(repo, load(repo)) as desk:
        found = next((p for p in desk.surroundings.planned() if p.id == entry_id), None)
        if found is None:
            raise UsageError(f"nothing is planned under {entry_id}; see `referee schedule list`")
        desk.surroundings.plan(lambda all_: [p for p in all_ if p.id != entry_id])
        return found


def work(repo: str = ".", progress: Progress | None = None) -> tuple[Planned, ...]:
    """Begin everything that is due, one after the other; what was begun, as it is now.

    Each is marked as begun just before it runs: one that a crash cuts off is resumed by hand, never begun twice. While
    another run is at work, all stay due. Raises `Cancelled` if a person stops one; those after it stay due.
    """
    done: list[Planned] = []
    while (taken := _take(repo, {p.id for p in done})) is not None:
        before, entry = taken
        try:
            last = _run(entry, repo, progress)
        except Busy as other:
            _changed(entry, {"due": before.due, "missed": before.missed}, repo)
            if progress is not None:
                progress("note", {"text": f"{entry.id} stays due: {other}"})
            break
        done.append(_changed(entry, {"last": last}, repo))
        if last.words == StopReason.HUMAN_ABORT.value:
            raise Cancelled("stopped by a person")
    return tuple(done)


def next_due(repo: str = ".") -> float | None:
    """Seconds until something is due, not negative; None if nothing is planned."""
    with Desk(repo, load(repo)) as desk:
        times = [p.due for p in desk.surroundings.planned() if p.due is not None]
        return max(0.0, min(times) - desk.clock.now()) if times else None


def _take(repo: str, done: Collection[str]) -> tuple[Planned, Planned] | None:
    """Mark one that is due, and not `done`, as begun: what it was and what it is now. None if there is none."""
    taken: list[tuple[Planned, Planned]] = []

    def take(entries: Sequence[Planned]) -> Sequence[Planned]:
        now = desk.clock.now()
        for place, entry in enumerate(entries):
            after = None if entry.id in done else begun(entry, now)
            if after is not None:
                taken.append((entry, after))
                return [*entries[:place], after, *entries[place + 1 :]]
        return entries

    with Desk(repo, load(repo)) as desk:
        if any(p.due is not None and p.due <= desk.clock.now() for p in desk.surroundings.planned()):
            desk.surroundings.plan(take)
    return taken[0] if taken else None


def _run(entry: Planned, repo: str, progress: Progress | None) -> Last:
    with Desk(repo, load(repo)) as desk:
        began = desk.clock.now()
    try:
        task = Task(repo=repo, text=entry.task, targets=entry.targets)
        outcome: Outcome = (agent if entry.flow == "agent" else fix)(task, load(repo), progress)
    except Suspended as waiting:
        return Last(began=began, words=f"waits for a person: {waiting}")
    except Busy:
        raise
    except UsageError as wrong:
        return Last(began=began, words=f"it could not begin: {wrong}")
    except RefereeError as fault:
        return Last(began=began, words=f"it failed: {fault}")
    return Last(began=began, run_id=outcome.report.run_id, words=outcome.stop_reason.value)


def _changed(entry: Planned, update: Mapping[str, Any], repo: str) -> Planned:
    with Desk(repo, load(repo)) as desk:
        desk.surroundings.plan(lambda all_: [p.model_copy(update=update) if p.id == entry.id else p for p in all_])
    return entry.model_copy(update=update)
