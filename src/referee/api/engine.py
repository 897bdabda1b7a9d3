"""Runs that workers drive: put into the queue, carried forward by whoever takes them, taken out again."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Literal

from referee.adapters.engine.line import Line
from referee.adapters.engine.work import Said, Work
from referee.api import places
from referee.api.database import address
from referee.api.repairs import Hold, created, drive, named
from referee.api.spec import Spec, known, known_in
from referee.api.stopping import ask_to_stop
from referee.config import DATABASE, Config, load, secret
from referee.domain.errors import Busy, Cancelled, Diverged, UsageError, WorldFault
from referee.domain.redaction import Redaction
from referee.domain.task import Task
from referee.domain.value import Value
from referee.flows.presets import preflight
from referee.wiring import Desk, open_store
from referee.wiring.desk import STATE

LEASE = 8.0  # seconds without a sign of life until another machine may go on with a run


class Queued(Value):
    """A run that waits for a worker, as a piece of its queue."""

    run_id: str
    piece: str
    status: str = "queued"


def queue(task: Task, config: Config | None = None, priority: int = 100) -> Queued:
    """Put a repair into the queue; a worker does it. The lower `priority`, the sooner.

    Raises `UsageError` for what `fix` would refuse before it begins, and `WorldFault` if the database does.
    """
    preflight(task)
    spec = Spec(task=task, config=places.absolute(config or load(task.repo)))
    line = Line(address())
    try:
        with Desk(task.repo, spec.config) as desk:
            record, _ = created(desk, spec, named(desk))
            work = Work(what=record.run_id, place=desk.workspace.root, priority=priority)
        return Queued(run_id=work.what, piece=line.put(work))
    finally:
        line.close()


def perform(work: Work) -> Said:
    """Carry a run as far forward as it goes now: what a worker's child does."""
    try:
        if _status(work) == "done":
            return Said(how="done", words="it had ended already")
        reason = drive(work.what, work.place, hold=Hold(seconds=LEASE, listening=False)).stop_reason
    except Cancelled:
        return Said(how="stopped")
    except Busy as other:
        return Said(how="busy", words=str(other))
    except (UsageError, Diverged) as wrong:
        return Said(how="refused", words=str(wrong))
    except WorldFault as fault:
        return Said(how="fault", words=str(fault))
    status = _status(work)
    return Said(how=status if status in ("done", "waiting") else "stopped", words=reason.value)


def go_on(desk: Desk, run_id: str) -> bool:
    """Queue a run again that came from the queue and waited for a person; whether a worker goes on with it."""
    if secret(DATABASE) is None or find_spec("dbos") is None:
        return False
    line = Line(address())
    try:
        if not line.standing(run_id):
            return False
        line.put(Work(what=run_id, place=desk.workspace.root))
        return True
    finally:
        line.close()


def stop(run_id: str, repo: str = ".") -> bool:
    """Stop a run: take it out of the queue, or ask whoever works on it; whether somebody works on it.

    Raises `UsageError` if there is nothing to stop.
    """
    with Desk(repo, load(repo)) as desk:
        if secret(DATABASE) is not None and known(desk, run_id).status != "running":
            line = Line(address())
            try:
                if line.drop(run_id):
                    return False
            finally:
                line.close()
        ask_to_stop(desk.store, known(desk, run_id), desk.clock)
        return True


def _status(work: Work) -> Literal["running", "stopped", "done", "waiting"]:
    store = open_store(os.path.join(work.place, STATE), Redaction())
    try:
        return known_in(store, work.what).status
    finally:
        store.close()
