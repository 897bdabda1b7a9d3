"""The record for other systems: a trajectory, spans."""

from __future__ import annotations

import json
from typing import Any

from referee import __version__
from referee.actions.call_tool import CallTool
from referee.adapters import otlp
from referee.api.asking import show, waiting
from referee.api.past import shown_line
from referee.api.spec import Spec, known
from referee.config import load
from referee.domain.component import Approval, approval, diff_review
from referee.domain.insight import Insights
from referee.domain.insight import insights as insights_of
from referee.domain.observation import Observation
from referee.domain.report import Outcome
from referee.kernel.journal import Ending
from referee.ports import Entry, Kind
from referee.render.acp import permission, update
from referee.render.ag_ui import events_of
from referee.render.spans import trace_of
from referee.render.trajectory import trajectory_of
from referee.render.words import title
from referee.wiring import Desk


def trajectory(run_id: str, repo: str = ".") -> dict[str, Any]:
    """A run as an ATIF trajectory. Raises `UsageError` if it is unknown."""
    with Desk(repo, load(repo)) as desk:
        record = known(desk, run_id)
        task = Spec.model_validate_json(record.spec).task.text
        return trajectory_of(run_id, task, _lines(desk, run_id), __version__)


def ag_ui(run_id: str, repo: str = ".") -> list[dict[str, Any]]:
    """A run as events of AG-UI; what it waits for is an interrupt. Raises `UsageError` if it is unknown."""
    with Desk(repo, load(repo)) as desk:
        known(desk, run_id)
        lines = _lines(desk, run_id)
    return list(events_of(run_id, lines, _waiting(run_id, repo)))


def acp(run_id: str, repo: str = ".") -> list[dict[str, Any]]:
    """What an editor is sent over ACP: the change of a run that has ended, or the permissions that it waits for.

    Raises `UsageError` if the run is unknown.
    """
    with Desk(repo, load(repo)) as desk:
        record, root = known(desk, run_id), desk.workspace.root
    if record.status == "done" and record.outcome:
        outcome = Outcome.model_validate_json(record.outcome)
        told = update(run_id, run_id, title(outcome.report), diff_review(outcome.diff), root)
        return [{"jsonrpc": "2.0", "method": "session/update", "params": told}]
    asked = enumerate(_waiting(run_id, repo), start=1)
    method = "session/request_permission"
    return [{"jsonrpc": "2.0", "id": n, "method": method, "params": permission(run_id, a, root=root)} for n, a in asked]


def _waiting(run_id: str, repo: str) -> list[Approval]:
    return [approval(show(w.id, repo)) for w in waiting(repo) if w.run_id == run_id and w.status == "open"]


def send_spans(run_id: str, endpoint: str, repo: str = ".") -> int:
    """Send a run's spans to an OpenTelemetry collector; how many they were.

    Raises `UsageError` if the run is unknown or packages are missing, `WorldFault` if the collector refuses.
    """
    with Desk(repo, load(repo)) as desk:
        known(desk, run_id)
        lines = _lines(desk, run_id)
    return otlp.send(trace_of(run_id, lines), endpoint, __version__)


def _lines(desk: Desk, run_id: str) -> list[dict[str, Any]]:
    return [_with_reply(desk, entry) for entry in desk.store.entries(run_id)]


def _with_reply(desk: Desk, entry: Entry) -> dict[str, Any]:
    """A line of the journal, of a model's call also with what the model said."""
    line = shown_line(desk, entry)
    if entry.action == "call_model" and entry.kind is Kind.ENDED:
        ending = Ending.model_validate_json(entry.payload)
        text = desk.store.get(ending.blob).decode() if ending.blob else ending.result
        reply = desk.redaction.document(text, forms=True)
        line["reply"] = json.loads(reply) if ending.outcome == "done" else None
    return line


def insights(repo: str = ".", *, last: int = 1_000) -> Insights:
    """What the newest `last` runs that have ended say together."""
    with Desk(repo, load(repo)) as desk:
        ended = [r for r in desk.store.runs() if r.status == "done" and r.outcome][:last]
        reports = [Outcome.model_validate_json(r.outcome).report for r in ended]
        calls = [call for r in ended for call in _calls(desk, r.run_id)]
    return insights_of(reports, calls)


def _calls(desk: Desk, run_id: str) -> list[tuple[str, str]]:
    """The tool calls of a run: each tool's name and how the call ended."""
    entries = [e for e in desk.store.entries(run_id) if e.action == CallTool.name]
    asked = {e.key: str(json.loads(e.payload).get("tool", "")) for e in entries if e.kind is Kind.REQUESTED}
    return [(asked[e.key], _outcome(desk, e)) for e in entries if e.kind is Kind.ENDED and e.key in asked]


def _outcome(desk: Desk, entry: Entry) -> str:
    ending = Ending.model_validate_json(entry.payload)
    if ending.outcome != "done":
        return ending.outcome
    text = desk.store.get(ending.blob).decode() if ending.blob else ending.result
    return Observation.model_validate_json(text).outcome
