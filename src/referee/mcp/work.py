"""Work on a thread of its own, with its progress told to the client; a client that cancels stops it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from referee.domain.errors import Cancelled, RefereeError, UsageError
from referee.ports import Progress
from referee.render.plain import line

T = TypeVar("T")


async def told(context: Context[Any, Any], work: Callable[[Progress], T]) -> T:
    """The result of `work`, which is given a listener for its progress. Raises `ToolError` in words.

    When the client cancels, the work is stopped at the next thing it tells.
    """
    stopped, count = threading.Event(), 0

    def tell(event: str, facts: Mapping[str, Any]) -> None:
        nonlocal count
        if stopped.is_set():
            raise Cancelled("the client cancelled")
        if words := _words(event, facts):
            count += 1
            anyio.from_thread.run(context.report_progress, float(count), None, words)

    def run() -> T:
        return work(tell)

    try:
        return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        stopped.set()
        raise
    except RefereeError as wrong:
        who = "" if isinstance(wrong, UsageError) else "this machine is at fault, not your request: "
        raise ToolError(f"{who}{wrong}") from wrong


def _words(event: str, facts: Mapping[str, Any]) -> str:
    """One line about an event; empty for what nobody needs to hear."""
    match event:
        case "note":
            return line(str(facts.get("text", "")), 300)
        case "baseline":
            return str(facts.get("what", ""))
        case "round":
            return f"step {facts.get('step')}: {facts.get('author')} works"
        case "verdict":
            verdict = facts.get("verdict")
            passed = bool(getattr(verdict, "passed", False))
            return f"step {facts.get('step')}: {'passed every check' if passed else 'did not pass'}"
        case "landing":
            return "putting the result in place"
        case _:
            return ""
