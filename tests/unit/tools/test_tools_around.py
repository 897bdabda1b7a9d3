"""What surrounds a run, as an agent meets it: memories, hooks, tools of other servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel
from rooms import Bench

from referee.authors.tools.around import surrounded
from referee.domain.errors import UsageError
from referee.domain.hooks import Answer, Hook, Moment, Trusted
from referee.domain.memory import Memory, MemoryLayer, Origin
from referee.domain.peers import Definition, Reply, Server
from referee.domain.risk import Risk
from referee.ports import Hooked
from referee.testing.surroundings import FakeSurroundings
from referee.tools.peers import PeerTool

GUARD = Hook(moment=Moment.BEFORE, matcher="Write", command="guard")
PARAMETERS = {"properties": {"who": {"type": "string"}}, "required": ["who"], "additionalProperties": False}
WORTH = {"when": "before every commit", "cost": "the wrong tests run"}


class Peer:
    """A server that greets."""

    def __init__(self, **hints: bool) -> None:
        self.called: list[Mapping[str, Any]] = []
        self._definition = Definition(
            server="t", name="greet", description="Greets.", parameters=PARAMETERS, hints=hints
        )

    def definitions(self) -> tuple[Definition, ...]:
        return (self._definition,)

    def call(self, tool: str, arguments: Mapping[str, Any], seconds: float) -> Reply:
        self.called.append(arguments)
        return Reply(text=f"hello {arguments['who']}")

    def close(self) -> None:
        pass


@pytest.fixture
def bench() -> Bench:
    return Bench({"a.py": "A = 1\n"})


def around(bench: Bench) -> FakeSurroundings:
    found = bench.run._world.surroundings
    assert isinstance(found, FakeSurroundings)
    return found


def enter(bench: Bench) -> None:
    bench.toolbox = surrounded(bench.room, bench.toolbox)


def test_what_a_model_remembers_waits_for_a_person(bench: Bench) -> None:
    enter(bench)
    refused = bench.call("remember", text="run make", when="x", cost="y")
    assert refused.outcome == "failed" and "needed again" in refused.text
    kept = bench.call("remember", text="run the tests with make", **WORTH)
    assert "a person decides" in kept.text
    ((_, name),) = around(bench).memories.kept
    enter(bench)
    assert "0 are remembered" in bench.call("recall", query=name).text
    assert f"known already as {name}" in bench.call("remember", text="Run the tests with make!", **WORTH).text


def test_recall_gives_what_is_confirmed_with_source_and_age(bench: Bench) -> None:
    memory = Memory(
        id="m", text="use make", layer=MemoryLayer.PERSON, origin=Origin.PERSON, date="1970-01-01", topic="tests"
    )
    around(bench).memories.confirm(around(bench).memories.keep(memory), "person")
    enter(bench)
    assert "m (person; said by a person; " in bench.call("recall", query="tests").text


def test_hooks_that_nobody_trusts_do_not_run(bench: Bench) -> None:
    around(bench).hooked = Hooked(hooks=(GUARD,), digest="d")
    enter(bench)
    assert bench.call("write", path="b.py", content="B = 1\n").outcome == "done" and around(bench).events == []


def test_no_agent_starts_without_the_guards_that_a_person_trusted(bench: Bench) -> None:
    around(bench).hooked = Hooked(hooks=(GUARD,), digest="d", changed=True)
    with pytest.raises(UsageError, match=r"referee hooks trust.*referee hooks revoke"):
        enter(bench)


def test_a_trusted_hook_forbids_a_call_before_it_happens(bench: Bench) -> None:
    around(bench).hooked = Hooked(hooks=(GUARD,), digest="d", trusted=Trusted.INSIDE)
    around(bench).play = lambda hook, event: Answer(exit_code=2, stderr="no new files today")
    enter(bench)
    told = bench.call("write", path="b.py", content="B = 1\n")
    assert told.outcome == "denied" and "no new files today" in told.text and bench.file("b.py") is None
    event = json.loads(around(bench).events[0])
    assert event["tool_name"] == "Write" and event["tool_input"]["file_path"] == "/repo/b.py"
    assert event["hook_event_name"] == "PreToolUse" and event["session_id"] == "r1"
    assert bench.call("read", path="a.py").outcome == "done"


def test_what_a_hook_says_afterwards_is_added_and_the_work_stays(bench: Bench) -> None:
    hook = GUARD.model_copy(update={"moment": Moment.AFTER})
    around(bench).hooked = Hooked(hooks=(hook,), digest="d", trusted=Trusted.INSIDE)
    around(bench).play = lambda hook, event: Answer(exit_code=2, stderr="format it")
    enter(bench)
    told = bench.call("write", path="b.py", content="B = 1\n")
    assert told.outcome == "done" and "[a hook says: format it]" in told.text and bench.file("b.py") == b"B = 1\n"


def test_tools_of_a_server_exist_only_as_they_were_approved(bench: Bench) -> None:
    peer = around(bench).peers["t"] = Peer()
    enter(bench)
    assert bench.call("mcp__t__greet", who="x").outcome == "invalid" and peer.called == []
    around(bench).approve(Server(name="t", command="t"), peer.definitions())
    enter(bench)
    assert bench.call("mcp__t__greet", who="x").text == "hello x\n[from t]"
    wrong = bench.call("mcp__t__greet", whom="x")
    assert wrong.outcome == "invalid" and "who" in wrong.text and len(peer.called) == 1
    around(bench).peers["t"] = Peer(readOnlyHint=True)
    changed = bench.call("mcp__t__greet", who="x")
    assert changed.outcome == "failed" and "no longer as it was approved" in changed.text


def test_a_recalled_call_is_not_done_again(bench: Bench) -> None:
    peer = Peer()
    for _ in range(2):
        around(bench).peers["t"] = peer
        around(bench).approve(Server(name="t", command="t"), peer.definitions())
        enter(bench)
        assert bench.call("mcp__t__greet", who="x").text == "hello x\n[from t]"
        bench.open()
    assert len(peer.called) == 1


def test_a_servers_schema_is_never_fetched() -> None:
    """What a server writes there would be asked for by referee itself, outside of every sandbox."""
    told = PeerTool(
        name="mcp__t__x",
        group="outside",
        risk=Risk.READ,
        description="",
        arguments=BaseModel,
        work=lambda room: None,  # type: ignore[arg-type, return-value]
        parameters={"properties": {"q": {"$ref": "file:///etc/hostname"}}},
    )
    with pytest.raises(ValueError, match="refers to file:///etc/hostname, which is not in it"):
        told.read('{"q": 1}')
