"""Components for other clients, read by those protocols' own published models."""

from __future__ import annotations

import json
from typing import Any

import pytest
from acp.schema import RequestPermissionRequest, SessionNotification
from ag_ui.core import Event
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from referee.domain.component import Approval, diff_review
from referee.domain.layer import Layer
from referee.domain.report import Iteration
from referee.render.acp import permission, update
from referee.render.ag_ui import activity, events_of
from referee.render.trajectory import trajectory_of

EVIL = "<script>alert(1)</script>\u202e"
DIFF = (
    "diff --git a/src/cart.py b/src/cart.py\n--- a/src/cart.py\n+++ b/src/cart.py\n@@ -3,2 +3,2 @@ def total():\n"
    " # what a customer pays\n-    return 1\n+    return 2\n"
    "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+X = 1\n"
    "diff --git a/logo.png b/logo.png\nBinary files a/logo.png and b/logo.png differ\n"
)
ASKED = Approval(
    id="q-1", run_id="r1", sort="signature", summary="apply the migration", shown="create table t;", digest="d" * 64,
    expires_at="2026-01-01T00:00:00+00:00", demands="ssh", commands=("referee sign q-1 --ssh-key FILE",),
)  # fmt: skip
ROW = Iteration(step=1, author="model", layer=Layer.TARGET, failed=("t",), fingerprint="f", duration_ms=5)
AT = "2026-01-01T00:00:00.100+00:00"
LINES: list[dict[str, Any]] = [
    {"n": 1, "at": AT, "key": "run:1", "kind": "opened", "action": ""},
    {"n": 2, "at": AT, "key": "1:call_model", "kind": "requested", "action": "call_model"},
    {"n": 3, "at": AT, "key": "1:call_model", "kind": "ended", "action": "call_model", "outcome": "done",
     "reply": {"content": EVIL, "usage": {"output": 3}, "cost_usd": "0.1"}},
    {"n": 4, "at": AT, "key": "2:call_tool", "kind": "requested", "action": "call_tool", "call_id": "c1",
     "tool": "read", "arguments": "no object"},
    {"n": 5, "at": AT, "key": "2:call_tool", "kind": "ended", "action": "call_tool", "observation": "1 line"},
    {"n": 6, "at": AT, "key": "v", "kind": "noted", "action": "", "text": "s",
     "iteration": ROW.model_dump(mode="json")},
    {"n": 7, "at": AT, "key": "3:call_tool", "kind": "requested", "action": "call_tool", "call_id": "c2",
     "tool": "bash"},
]  # fmt: skip


@pytest.mark.parametrize("waiting", [(), (ASKED,)])
def test_a_run_is_a_sequence_of_ag_ui_events(waiting: tuple[Approval, ...]) -> None:
    events = list(events_of("r1", LINES, waiting))
    read = [TypeAdapter(Event).validate_json(json.dumps(e)) for e in events]
    for given, event in zip(events, read, strict=True):  # nothing of ours is unknown to the protocol
        assert json.loads(event.model_dump_json(by_alias=True, exclude_none=True)).keys() >= given.keys()
    kinds = [e["type"] for e in events]
    assert kinds[0] == "RUN_STARTED" and kinds[-1] == "RUN_FINISHED"
    assert kinds.count("TOOL_CALL_START") == 2 and kinds.count("TOOL_CALL_RESULT") == 1
    assert kinds[kinds.index("STEP_STARTED") :][:3] == ["STEP_STARTED", "ACTIVITY_SNAPSHOT", "STEP_FINISHED"]
    outcome = events[-1]["outcome"]
    assert outcome["type"] == ("interrupt" if waiting else "success")
    if waiting:
        [interrupt] = outcome["interrupts"]
        assert interrupt["metadata"]["digest"] == ASKED.digest and "--ssh-key" in interrupt["message"]


def test_a_component_is_an_activity_with_all_that_it_holds() -> None:
    found = activity("m", diff_review(DIFF))
    TypeAdapter(Event).validate_python(found)
    assert found["activityType"] == "referee.diff_review" and found["content"]["digest"] == diff_review(DIFF).digest


def test_an_editor_is_shown_a_difference_by_acp() -> None:
    sent = update("r1", "r1", "mend it", diff_review(DIFF), "/shop")
    read = SessionNotification.model_validate(sent)
    assert read.update.session_update == "tool_call"
    first, second, third = sent["update"]["content"]
    assert first == {
        "type": "diff", "path": "/shop/src/cart.py",
        "oldText": "# what a customer pays\n    return 1\n", "newText": "# what a customer pays\n    return 2\n",
    }  # fmt: skip
    assert second["oldText"] is None and second["newText"] == "X = 1\n"
    assert "logo.png" in third["content"]["text"]
    assert sent["update"]["locations"][0] == {"path": "/shop/src/cart.py", "line": 3}


def test_an_editors_click_never_stands_for_a_signature() -> None:
    sent = permission("r1", ASKED, diff_review(DIFF))
    RequestPermissionRequest.model_validate(sent)
    assert [o["kind"] for o in sent["options"]] == ["reject_once"]
    text = sent["toolCall"]["content"][0]["content"]["text"]
    assert ASKED.shown in text and ASKED.digest in text and "referee sign q-1" in text
    approval = ASKED.model_copy(update={"sort": "approval", "demands": "answer"})
    sent = permission("r1", approval)
    RequestPermissionRequest.model_validate(sent)
    assert [o["kind"] for o in sent["options"]] == ["allow_once", "reject_once"]


def _object(required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object", "required": required.split(), "additionalProperties": False,
        "properties": {**{n: {} for n in required.split()}, **properties},
    }  # fmt: skip


TEXT, COUNT, DICT = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "object"}
CALL = _object("tool_call_id function_name arguments", arguments=DICT)
RESULTS = {"type": "array", "items": _object("content", source_call_id=TEXT)}
COST = {"type": "number", "minimum": 0}
METRICS = _object("", prompt_tokens=COUNT, completion_tokens=COUNT, cached_tokens=COUNT, cost_usd=COST)
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT"}
STEP = _object(
    "step_id source message", source={"enum": ["system", "user", "agent"]}, message=TEXT, timestamp=TIME,
    model_name=TEXT, tool_calls={"type": "array", "items": CALL}, observation=_object("results", results=RESULTS),
    metrics=METRICS, extra=DICT,
)  # fmt: skip
TOTALS = {f"total_{n}": COUNT for n in ("prompt_tokens", "completion_tokens", "cached_tokens", "steps")}
ATIF = _object(
    "schema_version session_id agent steps", schema_version={"const": "ATIF-v1.4"}, agent=_object("name version"),
    steps={"type": "array", "minItems": 1, "items": STEP}, final_metrics=_object("", total_cost_usd=COST, **TOTALS),
)  # fmt: skip


@pytest.mark.parametrize("lines", [LINES, LINES[:1], []])
def test_a_trajectory_holds_to_the_rules_of_atif(lines: list[dict[str, Any]]) -> None:
    """Its fields and no others, steps from 1 without a gap, each result to a call of its own step."""
    found = trajectory_of("r1", "mend it", lines, "0.1.0")
    assert not [e.message for e in Draft202012Validator(ATIF).iter_errors(json.loads(json.dumps(found)))]
    steps = found["steps"]
    assert [s["step_id"] for s in steps] == list(range(1, len(steps) + 1))
    for step in steps:
        assert step["source"] == "agent" or not step.keys() & {"model_name", "tool_calls", "metrics"}
        calls = {c["tool_call_id"] for c in step.get("tool_calls", ())}
        assert {r.get("source_call_id") for r in step.get("observation", {}).get("results", ())} <= calls
