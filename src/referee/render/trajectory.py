"""A run's journal as an ATIF trajectory (version 1.4): what the user asked, the models said and the tools answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

VERSION = "ATIF-v1.4"


def trajectory_of(run_id: str, task: str, lines: Iterable[Mapping[str, Any]], version: str) -> dict[str, Any]:
    """The trajectory as a document; `version` is referee's. A verdict is a step of the system's."""
    rows = list(lines)
    ends = {r["key"]: r for r in rows if r["kind"] == "ended"}
    began = {"timestamp": rows[0]["at"]} if rows else {}
    steps: list[dict[str, Any]] = [{"source": "user", "message": task, **began}]
    for row in rows:
        if row["kind"] == "requested" and row["action"] == "call_model":
            steps.append(_said(row, ends.get(row["key"], {})))
        elif row["kind"] == "requested" and "call_id" in row:
            _called(steps, row, ends.get(row["key"], {}))
        elif "iteration" in row:
            verdict = json.dumps(row["iteration"], sort_keys=True)
            steps.append({"source": "system", "message": str(row.get("text", "")), "timestamp": row["at"],
                          "extra": {"verdict": json.loads(verdict)}})  # fmt: skip
    numbered = [{"step_id": n, **step} for n, step in enumerate(steps, start=1)]
    return {
        "schema_version": VERSION,
        "session_id": run_id,
        "agent": {"name": "referee", "version": version},
        "steps": numbered,
        "final_metrics": _totals(numbered),
    }


def _said(row: Mapping[str, Any], end: Mapping[str, Any]) -> dict[str, Any]:
    reply = end.get("reply") or {}
    usage = reply.get("usage", {})
    read = sum(int(usage.get(n, 0)) for n in ("fresh_input", "cache_read", "cache_write"))
    metrics = {
        "prompt_tokens": read,
        "completion_tokens": int(usage.get("output", 0)),
        "cached_tokens": int(usage.get("cache_read", 0)),
        "cost_usd": float(reply.get("cost_usd") or 0),
    }
    step = {"source": "agent", "message": str(reply.get("content", "")), "timestamp": row["at"], "metrics": metrics}
    return {**step, "model_name": str(reply["model"])} if reply.get("model") else step


def _called(steps: list[dict[str, Any]], row: Mapping[str, Any], end: Mapping[str, Any]) -> None:
    """A tool's call belongs to the step of the model that asked for it."""
    if steps[-1]["source"] != "agent":
        steps.append({"source": "agent", "message": "", "timestamp": row["at"]})
    given = row.get("arguments") or {}
    # What a model gave in a wrong form is no object, and an object is all that the format has room for.
    arguments = given if isinstance(given, Mapping) else {"given": given}
    call = {"tool_call_id": row["call_id"], "function_name": row["tool"], "arguments": arguments}
    told = end.get("observation", "")
    content = told if isinstance(told, str) else json.dumps(told, sort_keys=True)
    steps[-1].setdefault("tool_calls", []).append(call)
    results = steps[-1].setdefault("observation", {"results": []})["results"]
    results.append({"source_call_id": row["call_id"], "content": content})


def _totals(steps: list[dict[str, Any]]) -> dict[str, Any]:
    spent = [s["metrics"] for s in steps if "metrics" in s]
    return {
        "total_prompt_tokens": sum(m["prompt_tokens"] for m in spent),
        "total_completion_tokens": sum(m["completion_tokens"] for m in spent),
        "total_cached_tokens": sum(m["cached_tokens"] for m in spent),
        "total_cost_usd": round(sum(m["cost_usd"] for m in spent), 6),
        "total_steps": len(steps),
    }
