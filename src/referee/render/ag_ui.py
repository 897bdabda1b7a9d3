"""A run as events of the AG-UI protocol: what models said, what tools answered, and components as activities."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from referee.domain.component import Approval, Component, timeline
from referee.domain.report import Iteration

Event = dict[str, Any]


def events_of(run_id: str, lines: Iterable[Mapping[str, Any]], waiting: Sequence[Approval] = ()) -> Iterator[Event]:
    """The events from the lines of a run's journal, in order; `waiting` is what the run has asked and waits for."""
    rows = list(lines)
    ends = {r["key"]: r for r in rows if r["kind"] == "ended"}
    yield {"type": "RUN_STARTED", "threadId": run_id, "runId": run_id, **_at(rows[0] if rows else None)}
    for row in rows:
        if row["kind"] == "requested" and row["action"] == "call_model":
            yield from _said(row, ends.get(row["key"], {}))
        elif row["kind"] == "requested" and "call_id" in row:
            yield from _called(row, ends.get(row["key"]))
        elif "iteration" in row:
            yield from _judged(row)
    for question in waiting:
        yield activity(question.id, question)
    yield {"type": "RUN_FINISHED", "threadId": run_id, "runId": run_id, **_outcome(waiting)}


def activity(message_id: str, component: Component) -> Event:
    """A component as an activity; a client that does not know its type may leave it out."""
    content = component.model_dump(mode="json")
    kind = f"referee.{component.kind}"
    return {"type": "ACTIVITY_SNAPSHOT", "messageId": message_id, "activityType": kind, "content": content}


def _outcome(waiting: Sequence[Approval]) -> Event:
    """An answer is never taken over this protocol: an interrupt says what to type."""
    if not waiting:
        return {"outcome": {"type": "success"}}
    asked = [
        {
            "id": question.id, "reason": question.sort, "expiresAt": question.expires_at,
            "message": f"{question.summary}; type: {' or '.join(question.commands)}",
            "metadata": {"digest": question.digest},
        }
        for question in waiting
    ]  # fmt: skip
    return {"outcome": {"type": "interrupt", "interrupts": asked}}


def _said(row: Mapping[str, Any], end: Mapping[str, Any]) -> Iterator[Event]:
    words = str((end.get("reply") or {}).get("content", ""))
    if words:  # a call of tools may come without any
        yield {"type": "TEXT_MESSAGE_START", "messageId": row["key"], "role": "assistant", **_at(row)}
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": row["key"], "delta": words}
        yield {"type": "TEXT_MESSAGE_END", "messageId": row["key"], **_at(end)}


def _called(row: Mapping[str, Any], end: Mapping[str, Any] | None) -> Iterator[Event]:
    call = {"toolCallId": row["call_id"]}
    yield {"type": "TOOL_CALL_START", **call, "toolCallName": row["tool"], **_at(row)}
    yield {"type": "TOOL_CALL_ARGS", **call, "delta": json.dumps(row.get("arguments") or {})}
    yield {"type": "TOOL_CALL_END", **call}
    if end is not None:
        told = end.get("observation", "")
        content = told if isinstance(told, str) else json.dumps(told)
        yield {"type": "TOOL_CALL_RESULT", **call, "messageId": row["key"], "content": content, **_at(end)}


def _judged(row: Mapping[str, Any]) -> Iterator[Event]:
    step = Iteration.model_validate(row["iteration"])
    yield {"type": "STEP_STARTED", "stepName": f"step {step.step}", **_at(row)}
    yield activity(f"step-{step.step}", timeline((step,)))
    yield {"type": "STEP_FINISHED", "stepName": f"step {step.step}", **_at(row)}


def _at(row: Mapping[str, Any] | None) -> Event:
    """Milliseconds since the epoch, where the time is known."""
    at = row.get("at") if row else None
    return {"timestamp": int(datetime.fromisoformat(at).timestamp() * 1000)} if at else {}
