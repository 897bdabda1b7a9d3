"""A call from its JSON text to its observation: schemas, strictness, pairing in the journal, recall."""

from __future__ import annotations

import json

import pytest
from rooms import Bench

from referee.config import Config
from referee.context.working import SYSTEM
from referee.domain.errors import UsageError
from referee.domain.finding import Finding
from referee.domain.metrics import measured
from referee.domain.permission import PRESETS, Rule
from referee.domain.question import Asking
from referee.kernel.policy import Deny
from referee.kernel.run import Run
from referee.policy import Landings, tool_calls
from referee.ports import Kind
from referee.tools import TOOLS, Toolbox
from referee.wiring import able


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("reed", "{}", "did you mean read?"),
        ("read", "{", "no valid JSON"),
        ("read", "[]", "not a JSON object"),
        ("read", '{"file": "x"}', "path is missing; file is no argument"),
        ("read", '{"path": "x", "ofset": 1}', "did you mean offset?"),
        ("read", '{"path": "x", "offset": "1"}', "offset: Input should be a valid integer"),
        ("read", '{"path": "x", "offset": 0}', "greater than or equal to 1"),
        ("edit", '{"path": "x", "edits": []}', "at least 1 item"),
        ("todo", '{"items": [{"text": "a", "state": "late"}]}', "items.0.state"),
    ],
)
def test_a_call_of_the_wrong_form_is_answered_with_the_right_one(name: str, arguments: str, said: str) -> None:
    observed = Bench({}).written(name, arguments)
    assert observed.outcome == "invalid"
    assert said in observed.text


def test_what_is_sent_with_every_call_is_short_and_always_the_same() -> None:
    sent = SYSTEM + json.dumps([t.model_dump(mode="json") for t in Toolbox().specs])
    assert len(sent.encode()) <= 16_384
    assert sent == SYSTEM + json.dumps([t.model_dump(mode="json") for t in Toolbox(TOOLS).specs])
    assert "title" not in json.dumps([t.spec.parameters for t in TOOLS])


@pytest.mark.parametrize("tool", TOOLS, ids=lambda t: t.name)
def test_every_tool_says_when_not_to_use_it(tool: object) -> None:
    text = " ".join(getattr(tool, "description").split())  # noqa: B009 - any tool of the table
    assert "Not for" in text or "Does not" in text


def test_a_call_and_its_observation_are_one_pair_in_the_journal() -> None:
    bench = Bench({"f": "x"})
    observed = bench.call("write", path="g", content="y")
    entries = [e for e in bench.store.entries("r1") if e.action == "call_tool"]
    asked, ended = (json.loads(e.payload) for e in entries)
    assert [e.kind for e in entries] == [Kind.REQUESTED, Kind.ENDED]
    assert (asked["call_id"], asked["tool"], asked["arguments"]) == ("c1", "write", {"path": "g", "content": "y"})
    assert json.loads(ended["result"])["text"] == observed.text
    within = [e.key for e in bench.store.entries("r1") if e.action == "apply"]
    assert within == [f"{entries[0].key}/1:apply"] * 2


def test_a_resumed_run_recalls_its_calls_and_finds_the_room_as_it_was() -> None:
    bench = Bench({"f": "x"})
    bench.call("read", path="f")
    bench.call("write", path="f", content="y")
    bench.call("note", text="f is y", kind="decision")
    bench.call("todo", items=[{"text": "a"}])
    room, entries = bench.room, len(bench.store.entries("r1"))
    bench.open()
    bench.call("read", path="f")
    bench.call("write", path="f", content="y")
    bench.call("note", text="f is y", kind="decision")
    bench.call("todo", items=[{"text": "a"}])
    assert (bench.room.tree, bench.room.seen, bench.room.notes) == (room.tree, room.seen, room.notes)
    assert bench.room.todo == room.todo
    assert len(bench.store.entries("r1")) == entries, "nothing was done again"


def test_a_rule_over_the_call_itself_is_an_observation() -> None:
    bench = Bench({"f": "x"})
    rule = Deny(findings=(Finding(check="policy", rule="read-only", message="nothing may be written here"),))
    shared = bench.run._shared
    policies = (lambda action: rule if action.name == "call_tool" and action.risk == "scratch" else None,)
    object.__setattr__(shared, "policies", policies)
    denied = bench.call("write", path="g", content="y")
    assert (denied.outcome, "read-only" in denied.text) == ("denied", True)
    assert bench.call("read", path="f").outcome == "done"
    assert isinstance(bench.run, Run)


def test_a_configured_rule_is_told_to_the_model_with_its_reason() -> None:
    bench = Bench({"f": "x"})
    push = Rule(then="deny", tool="write", match="*secret*", reason="no secrets in files")
    rules = (push, *PRESETS["trusted"])
    policy = tool_calls(rules, Landings(kind=Asking.APPROVAL, requester="test"))
    object.__setattr__(bench.run._shared, "policies", (policy,))
    told = bench.call("write", path="g", content="a secret")
    assert told.outcome == "denied" and "the rule deny write *secret*: no secrets in files" in told.text
    assert bench.call("write", path="g", content="nothing").outcome == "done"


@pytest.mark.parametrize(("tool", "said"), [("bahs", "did you mean bash"), ("zzz*", "the tools are read")])
def test_a_rule_about_a_tool_that_there_is_none_of_is_refused(tool: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        able(Config(rules=(Rule(then="deny", tool=tool),)), "/repo")
    able(Config(rules=tuple(Rule(then="deny", tool=t) for t in ("Bash", "mcp__x__*", "job_*", "*"))), "/repo")


def test_metrics_tell_invalid_calls_and_recoveries_apart() -> None:
    calls = [("read", "done"), ("edit", "invalid"), ("edit", "failed"), ("edit", "done"), ("bash", "failed")]
    found = measured(4, calls)
    assert (found.steps, found.calls, found.invalid_call_rate) == (4, 5, 0.2)
    assert found.recovery_rate == pytest.approx(2 / 3, abs=1e-4)
    assert measured(1, []).recovery_rate is None
