"""`referee acp` as an editor meets it: the library's own client at the other end of a wire."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Callable
from typing import Any

import acp
import pytest
from acp import schema as s

from referee import api
from referee.acp.serve import Editor, serve
from referee.config import Config
from referee.domain.errors import UsageError
from referee.domain.question import Asked, Asking, Demand, Given
from referee.domain.reason import StopReason
from referee.domain.report import Outcome, Report

DIFF = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-X = 1\n+X = 2\n"


def outcome(reason: StopReason, **more: Any) -> Outcome:
    report = Report(run_id="r1", task="t", stop_reason=reason, solved=reason is StopReason.SOLVED, **more)
    return Outcome(solved=report.solved, stop_reason=reason, diff=DIFF if report.solved else "", report=report)


class Person:
    """An editor that remembers what it was shown and chooses the option of a kind, where there is one."""

    def __init__(self, kind: str = "allow_once") -> None:
        self.kind, self.updates, self.offered = kind, [], []  # type: ignore[var-annotated]

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any) -> Any:
        self.offered.append([o.kind for o in options])
        chosen = next((o for o in options if o.kind == self.kind), None)
        result = s.AllowedOutcome(outcome="selected", option_id=chosen.option_id) if chosen else None
        return s.RequestPermissionResponse(outcome=result or s.DeniedOutcome(outcome="cancelled"))

    @property
    def said(self) -> str:
        return "".join(u.content.text for u in self.updates if u.session_update == "agent_message_chunk")


class Project:
    """What the editor's agent calls instead of real runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: Asking = Asking.APPROVAL, ssh: bool = False) -> None:
        self.answers: list[tuple[str, str]] = []
        self.first: Callable[[Any], Outcome] = lambda progress: outcome(StopReason.NEEDS_SIGNATURE)
        self.asked = Asked(
            id="q-1", run_id="r1", kind=kind, summary="land it", digest="d" * 64, status="open",
            expires_at="2030-01-01T00:00:00+00:00", shown="the whole text", action="land", demand=Demand(ssh=ssh),
        )  # fmt: skip
        monkeypatch.setattr(api, "agent", lambda task, config, progress: self.first(progress))
        monkeypatch.setattr(api, "resume", self.resume)
        monkeypatch.setattr(api, "questions", lambda repo: (self.asked,))
        monkeypatch.setattr(api, "question", lambda name, repo: self.asked)
        monkeypatch.setattr(api, "answer", self.answer)

    def resume(self, run_id: str, repo: str, progress: Any) -> Outcome:
        progress("note", {"text": "going on"})
        return outcome(StopReason.SOLVED, answer="done so")

    def answer(self, name: str, text: str, repo: str) -> Given:
        self.answers.append((name, text))
        return Given(id=name, status="answered")


def prompted(person: Person, cancel: threading.Event | None = None) -> s.PromptResponse:
    """One prompt over a real connection."""

    async def play() -> s.PromptResponse:
        ours, theirs = socket.socketpair()
        (r1, w1), (r2, w2) = await asyncio.open_connection(sock=ours), await asyncio.open_connection(sock=theirs)
        agent = asyncio.create_task(acp.run_agent(Editor("/shop", Config()), w1, r1))  # type: ignore[arg-type]
        editor = acp.connect_to_agent(person, w2, r2)  # type: ignore[arg-type]
        found = await editor.initialize(protocol_version=1)
        assert found.protocol_version == 1 and found.agent_info and found.agent_info.name == "referee"
        session = (await editor.new_session(cwd="/shop", mcp_servers=[])).session_id
        asked = asyncio.create_task(editor.prompt(session_id=session, prompt=[acp.text_block("mend it")]))
        if cancel:
            assert await asyncio.to_thread(cancel.wait, 60), "the run did not begin"
            await editor.cancel(session_id=session)
        ended = await asyncio.wait_for(asked, 60)
        await editor.close()
        agent.cancel()
        w1.close(), w2.close()
        return ended

    return asyncio.run(play())


def test_an_approval_in_the_editor_lets_the_run_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    project, person = Project(monkeypatch), Person()
    assert prompted(person).stop_reason == "end_turn"
    assert person.offered == [["allow_once", "reject_once"]] and project.answers == [("q-1", "yes")]
    [change] = [u for u in person.updates if u.session_update == "tool_call"]
    assert change.content[0].path == "/shop/a.py" and change.content[0].new_text == "X = 2\n"
    assert "going on" in person.said and "done so" in person.said


def test_a_signature_is_not_given_in_the_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    project, person = Project(monkeypatch, Asking.SIGNATURE, ssh=True), Person()
    assert prompted(person).stop_reason == "end_turn"
    assert person.offered == [["reject_once"]] and project.answers == []
    assert "waits for a person" in person.said


def test_what_cannot_be_done_is_said_and_a_cancelled_prompt_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    project, person = Project(monkeypatch), Person()

    def refuse(progress: Any) -> Outcome:
        raise UsageError("no model is configured")

    project.first = refuse
    assert prompted(person).stop_reason == "end_turn" and "no model is configured" in person.said

    begun = threading.Event()

    def work(progress: Any) -> Outcome:
        begun.set()
        while True:  # the run tells again and again, until the listener stops it
            progress("beat", {})

    project.first = work
    assert prompted(Person(), cancel=begun).stop_reason == "cancelled"


def test_without_an_editor_at_the_other_end_it_says_how_it_is_used() -> None:
    own = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    try:
        with pytest.raises(UsageError, match="an editor starts"):
            serve("/repository", Config())
    finally:
        os.dup2(own, 0)
        os.close(own)
        os.close(nothing)
