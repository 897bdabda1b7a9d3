"""The record: what ran, what it did, and how to undo it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from referee.actions.call_tool import CallTool, observed
from referee.actions.undo import RollBack
from referee.adapters.store.owner import me
from referee.api.spec import ROLLBACK, Spec, known
from referee.config import load
from referee.domain.cost import Budget
from referee.domain.errors import Damaged, UsageError, WorldFault
from referee.domain.report import ChainReport, Outcome, RunSummary
from referee.kernel.journal import LEASE_SECONDS, Ending, Journal, check_chain
from referee.kernel.questions import read_question
from referee.kernel.run import Run, Shared
from referee.ports import Entry, Kind, Restoration, RunRecord
from referee.wiring import Desk


def rollback(
    run_id: str, repo: str = ".", *, merge: bool = False, wait: Callable[[str], None] | None = None
) -> Restoration:
    """Undo what a run landed, only where the files still are as it left them. Works days later.

    With `merge`, also in files that somebody changed since in other lines; theirs stay.

    It is recorded in the run's journal. While another run works here: `UsageError`, or with `wait` that is told and
    waited for.
    """
    with Desk(repo, load(repo)) as desk:
        known(desk, run_id)
        with desk.turn(f"the rollback of run {run_id}", wait):
            lease = desk.store.claim(run_id, me(), desk.clock.now(), LEASE_SECONDS, begin=False)
            try:
                journal = Journal(desk.store, lease, desk.clock)
                journal.note(f"{ROLLBACK}{lease.fence}", Kind.OPENED, {"elapsed": journal.elapsed})
                shared = Shared(run_id=run_id, world=desk, journal=journal, store=desk.store)
                # Its own keys: a run that is resumed later must not take them for its own.
                return (
                    Run(shared, Budget())
                    .branch(f"{ROLLBACK}{lease.fence}")
                    .perform(RollBack(run_id=run_id, merge=merge))
                )
            finally:
                desk.store.release(lease)


def runs(repo: str = ".", *, refused: bool = False) -> tuple[RunSummary, ...]:
    """The runs of a repository, newest first; with `refused` also those that were refused before they began."""
    with Desk(repo, load(repo)) as desk:
        return tuple(summary_of(r) for r in desk.store.runs() if refused or r.status != "done" or r.outcome)


def show(run_id: str, repo: str = ".") -> Outcome:
    """The outcome of a finished run. Raises `UsageError` if it is unknown or unfinished."""
    with Desk(repo, load(repo)) as desk:
        record = known(desk, run_id)
        if not record.outcome and record.status == "done":
            raise UsageError(f"run {run_id} was refused before it began; there is no report")
        if record.status == "waiting":
            raise UsageError(f"run {run_id} waits for a person; see `referee questions`")
        if record.status != "done":
            raise UsageError(f"run {run_id} has not ended; `referee resume {run_id}` continues it")
        return Outcome.model_validate_json(record.outcome)


def journal(run_id: str, repo: str = ".") -> tuple[Entry, ...]:
    """The journal of a run, in order. Raises `UsageError` if it is unknown."""
    with Desk(repo, load(repo)) as desk:
        known(desk, run_id)
        return desk.store.entries(run_id)


def journal_lines(run_id: str, repo: str = ".") -> tuple[dict[str, Any], ...]:
    """The same as documents for people and programs to read: of a tool call also what the model was told."""
    with Desk(repo, load(repo)) as desk:
        known(desk, run_id)
        return tuple(shown_line(desk, entry) for entry in desk.store.entries(run_id))


def shown_line(desk: Desk, entry: Entry) -> dict[str, Any]:
    """An entry as a document, without what looks like a key."""
    document: dict[str, Any] = json.loads(entry.payload) | entry.model_dump(mode="json", exclude={"payload"})
    if entry.action == CallTool.name and entry.kind is Kind.ENDED:
        ending = Ending.model_validate_json(entry.payload)
        text = desk.store.get(ending.blob).decode() if ending.blob else ending.result
        document["observation"] = observed(ending.outcome, text)
    shown: dict[str, Any] = desk.redaction.value(document, forms=True)
    return shown


def verify(run_id: str | None = None, repo: str = ".") -> ChainReport:
    """Whether the journal of a run (of all runs, without one) is as it was written."""
    with Desk(repo, load(repo)) as desk:
        records = [known(desk, run_id)] if run_id else desk.store.runs()
        count = 0
        for record in records:
            try:
                entries = desk.store.entries(record.run_id)
            except Damaged as damaged:
                return ChainReport(ok=False, entries=count, first_bad=damaged.n, run_id=record.run_id)
            count += len(entries)
            if (bad := check_chain(entries, record.head) or _without_its_blob(desk, entries)) is not None:
                return ChainReport(ok=False, entries=count, first_bad=bad, run_id=record.run_id)
        return ChainReport(ok=True, entries=count)


def _without_its_blob(desk: Desk, entries: tuple[Entry, ...]) -> int | None:
    """The first entry whose long result, or what it showed a person, is not there as it was written."""
    for entry in entries:
        blob = ""
        if entry.kind is Kind.ENDED:
            blob = Ending.model_validate_json(entry.payload).blob
        elif entry.kind is Kind.ASKED:
            blob = read_question(entry).shown
        try:
            _ = desk.store.get(blob) if blob else b""
        except WorldFault:
            return entry.n
    return None


def gc(repo: str = ".", days: float = 7.0) -> tuple[str, ...]:
    """Drop the snapshots of ended runs older than `days`; their ids. What waits or can be resumed as it is stays.

    Raises `UsageError` while a run works here.
    """
    with Desk(repo, load(repo)) as desk, desk.turn("gc", None):
        going_on = (r.run_id for r in desk.store.runs() if r.status != "done")
        return desk.drop_snapshots(days, {run_id: _trees(desk, run_id) for run_id in going_on})


def _trees(desk: Desk, run_id: str) -> frozenset[str]:
    """The trees that a run has made: its replay takes them to be there."""
    ended = (json.loads(e.payload) for e in desk.store.entries(run_id) if e.kind is Kind.ENDED and e.action == "apply")
    return frozenset(json.loads(e["result"]) for e in ended if e["outcome"] == "done")


def summary_of(record: RunRecord) -> RunSummary:
    """One line about a run."""
    task = Spec.model_validate_json(record.spec).task.text
    summary = RunSummary(run_id=record.run_id, status=record.status, created=record.created, task=task)
    if record.status != "done" or not record.outcome:
        return summary
    report = Outcome.model_validate_json(record.outcome).report
    update = {
        "stop_reason": report.stop_reason,
        "solved": report.solved,
        "steps": report.steps,
        "cost_usd": report.cost_usd,
        "wall_seconds": report.wall_seconds,
        "touched_files": report.touched_files,
    }
    return summary.model_copy(update=update)
