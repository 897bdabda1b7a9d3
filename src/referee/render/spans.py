"""A run's journal as OpenTelemetry spans, by the conventions for generative AI: values, sent by whoever can."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from referee.domain.trace import Attributes, SpanEvent, Trace, TraceSpan


def trace_of(run_id: str, lines: Iterable[Mapping[str, Any]]) -> Trace:
    """The trace of a run from the lines of its journal. What was never ended lasts until the last entry."""
    rows = list(lines)
    last = _at(rows[-1]) if rows else 0
    ends = {r["key"]: r for r in rows if r["kind"] == "ended"}
    actions = tuple(_action(r, ends.get(r["key"]), last) for r in rows if r["kind"] == "requested")
    root = TraceSpan(
        name="invoke_agent referee",
        start=_at(rows[0]) if rows else 0,
        end=last,
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "referee",
            "gen_ai.conversation.id": run_id,
        },
        events=tuple(_judged(r) for r in rows if "iteration" in r),
    )
    return Trace(root=root, actions=actions)


def _action(asked: Mapping[str, Any], end: Mapping[str, Any] | None, last: int) -> TraceSpan:
    name, attributes = _named(asked, end)
    outcome = str(end.get("outcome", "")) if end else "unfinished"
    return TraceSpan(
        name=name,
        start=_at(asked),
        end=max(_at(asked), _at(end) if end else last),
        attributes={
            "referee.action": asked["action"],
            "referee.key": asked["key"],
            "referee.outcome": outcome,
            **attributes,
        },
        error="" if outcome in ("done", "rejected") else outcome,
    )


def _named(asked: Mapping[str, Any], end: Mapping[str, Any] | None) -> tuple[str, Attributes]:
    """A model's call and a tool's call by the names that observers know; everything else by our own."""
    if "call_id" in asked:
        tool = {"gen_ai.tool.name": asked["tool"], "gen_ai.tool.call.id": asked["call_id"]}
        return f"execute_tool {asked['tool']}", {"gen_ai.operation.name": "execute_tool", **tool}
    if asked["action"] != "call_model":
        return asked["action"], {}
    reply = end.get("reply") if end else None
    if not isinstance(reply, Mapping):
        return "chat", {"gen_ai.operation.name": "chat"}
    provider, _, model = str(reply.get("model", "")).partition(":")
    usage = reply.get("usage", {})
    read = sum(int(usage.get(n, 0)) for n in ("fresh_input", "cache_read", "cache_write"))
    return f"chat {model or provider}", {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model or provider,
        "gen_ai.usage.input_tokens": read,
        "gen_ai.usage.output_tokens": int(usage.get("output", 0)),
        "gen_ai.response.finish_reasons": (str(reply.get("finish", "")),),
    }


def _judged(row: Mapping[str, Any]) -> SpanEvent:
    """A verdict as the result of an evaluation."""
    step = row["iteration"]
    failed = ", ".join(step.get("failed") or ())[:1_000]
    attributes = {
        "gen_ai.evaluation.name": "referee.verdict",
        "gen_ai.evaluation.score.value": 1.0 if step.get("passed") else 0.0,
        "gen_ai.evaluation.score.label": "pass" if step.get("passed") else "fail",
        "gen_ai.evaluation.explanation": failed,
        "referee.step": int(step["step"]),
        "referee.layer": step.get("layer") or "",
    }
    return SpanEvent(name="gen_ai.evaluation.result", at=_at(row), attributes=attributes)


def _at(row: Mapping[str, Any]) -> int:
    return round(datetime.fromisoformat(row["at"]).timestamp() * 1_000_000) * 1_000
