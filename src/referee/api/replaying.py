"""Driving the pure parts of a run again from its record: the same entries must lead to the same decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.adapters.store import RecordedStore
from referee.api.environment import explained
from referee.api.repairs import play, policies
from referee.api.spec import Spec, asked_last, known
from referee.config import load
from referee.domain.errors import Diverged, Suspended, Unrecorded, UsageError
from referee.domain.report import Outcome, ReplayReport
from referee.flows.plan import Ended
from referee.kernel.journal import LEASE_SECONDS, Journal, check_chain
from referee.kernel.run import Run, Shared
from referee.ports import RunRecord
from referee.wiring import Desk


class _Counted:
    """How many decisions the flow told of."""

    def __init__(self) -> None:
        self.decisions = 0

    def __call__(self, event: str, facts: Mapping[str, Any]) -> None:
        self.decisions += event == "decision"


def replay(run_id: str, repo: str = ".") -> ReplayReport:
    """Nothing is run, asked, paid or written: every result is the recorded one, and what follows is compared.

    A run that has not ended is followed to the end of its record. Raises `UsageError` if there is nothing to replay.
    """
    with Desk(repo, load(repo)) as desk:
        record = known(desk, run_id)
        if record.status == "done" and not record.outcome:
            raise UsageError(f"run {run_id} was refused before it began; there is nothing to replay")
        bad = check_chain(desk.store.entries(run_id), record.head)
        if bad is not None:
            words = f"entry {bad} of the journal is not as it was written"
            return ReplayReport(same=False, decisions=0, first_difference=words)
        counted = _Counted()
        difference = _difference(desk, record, asked_last(desk, record), counted)
        return ReplayReport(same=difference is None, decisions=counted.decisions, first_difference=difference)


def _difference(desk: Desk, record: RunRecord, spec: Spec, counted: _Counted) -> str | None:
    desk.config = spec.config
    store = RecordedStore(desk.store, record)
    lease = store.claim(record.run_id, "replay", desk.clock.now(), LEASE_SECONDS)
    shared = Shared(
        run_id=record.run_id,
        world=desk,
        journal=Journal(store, lease, desk.clock),
        store=store,
        policies=policies(desk, spec),
        recorded_only=True,
        tell=counted,
    )
    run = Run(shared, spec.config.budget)
    try:
        ended = play(desk, spec, run)
    except (Unrecorded, Suspended) as end:
        return f"the run has ended, but its journal ends before {end}" if record.status == "done" else None
    except Diverged as other:
        return str(explained(desk, record.run_id, other))
    if record.status != "done":
        return None  # it had ended, and was cut off before that was written down
    return _compared(Outcome.model_validate_json(record.outcome), ended, run)


def _compared(outcome: Outcome, ended: Ended, run: Run) -> str | None:
    report = outcome.report
    pairs = (
        ("the stop reason", report.stop_reason.value, ended.reason.value),
        ("the number of steps", report.steps, run.view.spent.steps),
        ("the files touched", report.touched_files, ended.patch.touched if ended.solved else ()),
    )
    for what, recorded, now in pairs:
        if recorded != now:
            return f"{what}: the report says {recorded}, the replay {now}"
    return None
