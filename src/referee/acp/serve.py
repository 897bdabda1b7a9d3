"""Each prompt is a run: its progress is told, its change is shown, and what it waits for is asked in the editor.

The repository is chosen where the server is started. An approval may be given in the editor; a signature may not.
"""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import acp
from acp import schema as s

from referee import __version__, api
from referee.config import Config
from referee.domain.component import approval, diff_review
from referee.domain.errors import Cancelled, RefereeError, UsageError
from referee.domain.question import NO, YES, Asking
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.ports import Progress
from referee.render import text
from referee.render.acp import permission, update
from referee.render.plain import line

T = TypeVar("T")


def serve(repo: str, config: Config) -> None:
    """Serve until standard input ends. Raises `UsageError` if no editor is at the other end of it."""
    mode = os.fstat(0).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        raise UsageError("an editor starts `referee acp` and talks to it through a pipe; name the command there")
    asyncio.run(acp.run_agent(cast(acp.Agent, Editor(repo, config))))  # the rest of the protocol is optional


class Editor:
    """The agent's side of a connection with one editor; one prompt at a time works on the repository."""

    def __init__(self, repo: str, config: Config) -> None:
        self._repo, self._config, self._sessions = repo, config, 0
        self._stopped = threading.Event()
        self._client: Any = None

    def on_connect(self, conn: Any) -> None:
        """Remember whom to talk to."""
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> s.InitializeResponse:
        """What this agent is."""
        about = s.Implementation(name="referee", version=__version__)
        version = min(protocol_version, acp.PROTOCOL_VERSION)
        return s.InitializeResponse(protocol_version=version, agent_info=about)

    async def new_session(self, cwd: str, **_: Any) -> s.NewSessionResponse:
        """A conversation; servers of tools that an editor brings are not taken: a person approves them one by one."""
        self._sessions += 1
        return s.NewSessionResponse(session_id=f"session-{self._sessions}")

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> s.PromptResponse:
        """Work on what was asked, to its end or until a person is needed elsewhere."""
        self._stopped.clear()
        words = "\n".join(block.text for block in prompt if isinstance(block, s.TextContentBlock))
        task, config = Task(repo=self._repo, text=words), self._config
        try:
            outcome = await self._told(session_id, lambda progress: api.agent(task, config, progress))
            while outcome.stop_reason is StopReason.NEEDS_SIGNATURE and await self._asked(session_id, outcome):
                outcome = await self._resumed(session_id, outcome.report.run_id)
            await self._show(session_id, outcome)
        except Cancelled:
            return s.PromptResponse(stop_reason="cancelled")
        except RefereeError as wrong:
            await self._say(session_id, f"That is not possible: {wrong}")
        return s.PromptResponse(stop_reason="cancelled" if self._stopped.is_set() else "end_turn")

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop at the next thing that is told, as safely as Ctrl-C does."""
        self._stopped.set()

    async def _told(self, session: str, work: Callable[[Progress], T]) -> T:
        """The result of work on a thread of its own, whose progress the editor hears."""
        loop = asyncio.get_running_loop()

        def tell(event: str, facts: Mapping[str, Any]) -> None:
            if self._stopped.is_set():
                raise Cancelled("the editor cancelled")
            if event == "note":
                said = self._say(session, line(str(facts.get("text", "")), 300) + "\n")
                asyncio.run_coroutine_threadsafe(said, loop).result()

        return await asyncio.to_thread(work, tell)

    async def _resumed(self, session: str, run_id: str) -> Outcome:
        return await self._told(session, lambda progress: api.resume(run_id, self._repo, progress=progress))

    async def _asked(self, session: str, outcome: Outcome) -> bool:
        """Ask what the run waits for; whether all of it was answered here."""
        run_id = outcome.report.run_id
        open_ones = [w for w in api.questions(self._repo) if w.run_id == run_id and w.status == "open"]
        for waiting in open_ones:
            if waiting.kind is Asking.QUESTION:
                return False  # it takes words, for which an editor has no form; the report says what to type
            asked = permission(session, approval(api.question(waiting.id, self._repo)))
            request = s.RequestPermissionRequest.model_validate(asked)
            reply = await self._client.request_permission(
                session_id=session, tool_call=request.tool_call, options=request.options
            )
            chosen = getattr(reply.outcome, "option_id", None)
            if chosen not in (YES, NO) or chosen not in [option["optionId"] for option in asked["options"]]:
                return False
            api.answer(waiting.id, chosen, self._repo)
        return bool(open_ones)

    async def _show(self, session: str, outcome: Outcome) -> None:
        """The answer or the report, and the change as the editor shows changes."""
        if outcome.diff:
            called = update(session, outcome.report.run_id, "change", diff_review(outcome.diff), self._repo)
            notification = s.SessionNotification.model_validate(called)
            await self._client.session_update(session_id=session, update=notification.update)
        await self._say(session, "\n\n".join(filter(None, (outcome.report.answer, text(outcome.report)))))

    async def _say(self, session: str, words: str) -> None:
        await self._client.session_update(session_id=session, update=acp.update_agent_message_text(words))
