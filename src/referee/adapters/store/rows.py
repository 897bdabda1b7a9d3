"""From the rows of a database to records and entries, the same for every one of them."""

from __future__ import annotations

import time
from typing import Any

from referee.adapters.store.owner import alive
from referee.domain.errors import Damaged, WorldFault
from referee.ports import Entry, Kind, Lease, RunRecord, RunState

_FIELDS = ("run_id", "status", "spec", "created", "fence", "outcome", "head")
_KINDS = {kind.value: kind for kind in Kind}


def record_of(row: tuple[Any, ...]) -> RunRecord:
    """A run from these columns, its owner and the end of its lease."""
    *fields, owner, until = row
    status = _status(row[1], owner, until)
    return RunRecord(**{**dict(zip(_FIELDS, fields, strict=True)), "status": status})


def state_of(row: tuple[Any, ...]) -> RunState:
    """How a run stands, from its id, its status, its fence, its owner and the end of its lease."""
    run_id, status, fence, owner, until = row
    return RunState.model_validate({"run_id": run_id, "status": _status(status, owner, until), "fence": fence})


def _status(recorded: str, owner: str, until: float) -> str:
    """A run whose owner is gone or gave it back is not running, whatever was last written."""
    if recorded != "running":
        return recorded
    lives = alive(owner) if owner else False
    if lives is None:  # on another machine or in another container: it renews its lease while it lives
        lives = until >= time.time()
    return recorded if lives else "stopped"


def entry_of(row: tuple[Any, ...]) -> Entry:
    """An entry from its run's id and its columns. Raises `Damaged` for a kind that does not exist."""
    # The table is strict and the kinds are few, so a second check of each of many rows is spared.
    run_id, n, at, key, kind, action, payload, prev, digest = row
    if kind not in _KINDS:
        raise Damaged(run_id, n, f"its kind is {kind!r}")
    return Entry.model_construct(
        n=n, at=at, key=key, kind=_KINDS[kind], action=action, payload=payload, prev=prev, digest=digest
    )


def fenced(rows: int, lease: Lease) -> None:
    """Raise `WorldFault` if a statement that names the lease's fence changed nothing."""
    if rows == 0:
        raise WorldFault(f"run {lease.run_id} was taken over by another process; this one stops here")
