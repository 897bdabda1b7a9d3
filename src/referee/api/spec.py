"""What a run was asked, kept with it so that it can be shown and resumed."""

from __future__ import annotations

import difflib
import json
from typing import Literal

from referee.actions.call_model import CallModel
from referee.actions.call_tool import CallTool
from referee.actions.step import ChargeStep
from referee.actions.tree import Apply
from referee.config import Config
from referee.domain.errors import UsageError
from referee.domain.outside import Proposal
from referee.domain.reason import StopReason
from referee.domain.redaction import Redaction
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.domain.value import Value
from referee.domain.workflow import Workflow
from referee.kernel.journal import Ending
from referee.ports import Kind, RunRecord, Store
from referee.wiring import Desk

BUDGET_REASONS = (
    StopReason.STEPS_EXHAUSTED,
    StopReason.TIMEOUT,
    StopReason.TOKEN_EXHAUSTED,
    StopReason.COST_TRIPPED,
    StopReason.GATE_REGRESSION,
)


# What a resume neither does nor pays for again.
WORK = frozenset({CallModel.name, CallTool.name, Apply.name, ChargeStep.name})
ROLLBACK = "rollback-"  # begins the keys of what a rollback records in the journal of its run


class Spec(Value):
    """What a run was asked, kept with it so that it can be resumed."""

    task: Task
    config: Config
    proposal: Proposal | None = None  # what is done outside, if that is all the run is for
    tidy: bool = False  # let the linters' own fixes work once, instead of a repair
    flow: Literal["fix", "agent"] = "fix"
    workflow: Workflow | None = None  # what an agent's run is played by, in place of a model


def known(desk: Desk, run_id: str) -> RunRecord:
    """The record of a run. Raises `UsageError` with the nearest id if there is none."""
    return known_in(desk.store, run_id)


def known_in(store: Store, run_id: str) -> RunRecord:
    """The record of a run in a store. Raises `UsageError` with the nearest id if there is none."""
    record = store.run(run_id)
    if record is None:
        near = difflib.get_close_matches(run_id, [r.run_id for r in store.runs()], n=1)
        raise UsageError(
            f"there is no run {run_id} here; " + (f"did you mean {near[0]}?" if near else "see `referee runs`")
        )
    return record


def sayable(spec: Spec, redaction: Redaction) -> Spec:
    """What is asked, without secrets in the words of its task: from here on nobody sees more than is recorded.

    Raises `UsageError` where a secret is in what would be done: hiding it would do something else.
    """
    task = spec.task.model_copy(update={"text": redaction.text(spec.task.text)})
    config = spec.config
    if task != spec.task:
        words = "a secret was in the task's words; it is hidden, from the model too"
        config = config.model_copy(update={"notes": (*config.notes, words)})
    said = spec.model_copy(update={"task": task, "config": config})
    text = said.model_dump_json()
    if (clean := redaction.document(text)) != text:
        what = ", ".join(mark[len("[hidden ") : -1] for mark in redaction.named(clean)) or "a secret"
        raise UsageError(
            f"what is asked holds the value of {what}, and would be recorded; name the variable instead, "
            "as env:NAME where that is possible"
        )
    return said


def asked_last(desk: Desk, record: RunRecord) -> Spec:
    """What the run was asked when it was last worked on: a larger budget that was given once stays given."""
    opened = [e for e in desk.store.entries(record.run_id) if e.kind is Kind.OPENED and '"spec"' in e.payload]
    spec = json.dumps(json.loads(opened[-1].payload)["spec"]) if opened else record.spec
    return Spec.model_validate_json(spec)


def rolled_back(desk: Desk, run_id: str) -> bool:
    """Whether a person has undone the run: going on with it would do again what they did not want.

    A rollback that was cut off counts, for some of it may have happened; one that failed does not.
    """
    entries = [e for e in desk.store.entries(run_id) if e.key.startswith(ROLLBACK)]
    failed = {e.key for e in entries if e.kind is Kind.ENDED and '"outcome":"done"' not in e.payload}
    return any(e.kind is Kind.REQUESTED and e.key not in failed for e in entries)


def has_begun(desk: Desk, run_id: str) -> bool:
    """Whether the run has recorded the repository."""
    return any(e.kind is Kind.ENDED and e.action == "snapshot" for e in desk.store.entries(run_id))


def has_worked(desk: Desk, run_id: str) -> bool:
    """Whether a model has answered, a tool was called, a change was made or a step was paid for."""
    entries = (e for e in desk.store.entries(run_id) if e.kind is Kind.ENDED and e.action in WORK)
    return any(Ending.model_validate_json(e.payload).final for e in entries)


def unfinished(record: RunRecord, larger: bool) -> None:
    """Raise `UsageError` if resuming cannot change anything."""
    if record.status != "done":
        return
    reason = Outcome.model_validate_json(record.outcome).stop_reason if record.outcome else None
    if reason in BUDGET_REASONS and larger:
        return
    if reason in BUDGET_REASONS:
        raise UsageError(f"run {record.run_id} ended with {reason.value}; give it more, for example --max-steps 16")
    words = reason.value if reason else "a refusal before it began"
    raise UsageError(f"run {record.run_id} ended with {words}; there is nothing to resume")
