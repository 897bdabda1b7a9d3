"""A server behind the library's client, with a loop of its own in the background."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import anyio
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from referee.domain.errors import WorldFault
from referee.domain.peers import MOST_TOOLS, Definition, Reply, Server

_START = 30.0  # seconds for a server to begin and to name its tools
_MOST_PAGES = 20
_HINTS = ("read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint")
_WIRE = {"read_only_hint": "readOnlyHint", "destructive_hint": "destructiveHint", "idempotent_hint": "idempotentHint"}


class SdkPeer:
    """See `Peer`. `transport` is one of the library's, or of `transport`, which adds a program's end to `said`."""

    def __init__(self, server: Server, transport: Any, said: Sequence[str] = ()) -> None:
        self._server, self._stack, self._said = server, ExitStack(), said
        try:
            self._portal = self._stack.enter_context(start_blocking_portal())
            client = Client(transport, read_timeout_seconds=_START, cache=None)
            self._client = self._stack.enter_context(self._portal.wrap_async_context_manager(client))
            self._definitions = self._portal.call(self._listed)
        except BaseException as wrong:
            self.close()
            if isinstance(wrong, Exception):
                raise WorldFault(f"the MCP server {server.name} did not start: {self._why(wrong)}") from wrong
            raise

    def definitions(self) -> tuple[Definition, ...]:
        """What it named when it started."""
        return self._definitions

    def call(self, tool: str, arguments: Mapping[str, Any], seconds: float) -> Reply:
        """Ask, and put the answer into words."""
        try:
            answer: Reply = self._portal.call(self._called, tool, dict(arguments), seconds)
            return answer
        except MCPError as refused:
            return Reply(text=f"the server refused: {refused}", failed=True)
        except TimeoutError:
            return Reply(text=f"no answer came within {seconds:.0f} s", failed=True)
        except Exception as wrong:
            raise WorldFault(f"the MCP server {self._server.name} has ended: {self._why(wrong)}") from wrong

    def close(self) -> None:
        """Hang up. What a server says on the way out is nobody's."""
        try:
            self._stack.close()
        except Exception as wrong:
            raise WorldFault(f"the MCP server {self._server.name} did not end well: {_words(wrong)}") from wrong

    def _why(self, wrong: BaseException) -> str:
        return "; ".join((_words(wrong), *self._said))

    async def _listed(self) -> tuple[Definition, ...]:
        found: list[Definition] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found += [self._definition(tool) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor or len(found) > MOST_TOOLS:
                break
        return tuple(found)

    def _definition(self, tool: Any) -> Definition:
        said = {_WIRE.get(h, "openWorldHint"): getattr(tool.annotations, h, None) for h in _HINTS}
        return Definition(
            server=self._server.name,
            name=tool.name,
            description=tool.description or "",
            parameters=json.loads(json.dumps(tool.input_schema)),
            hints={name: value for name, value in said.items() if value is not None},
        )

    async def _called(self, tool: str, arguments: dict[str, Any], seconds: float) -> Reply:
        with anyio.fail_after(seconds):
            result = await self._client.call_tool(tool, arguments, read_timeout_seconds=seconds)
        parts = [part.text if isinstance(part, TextContent) else f"[{part.type} left out]" for part in result.content]
        if not parts and result.structured_content is not None:
            parts.append(json.dumps(result.structured_content))
        return Reply(text="\n".join(parts), failed=bool(result.is_error))


def _words(wrong: BaseException) -> str:
    """The innermost reasons of an error, in a line."""
    if isinstance(wrong, BaseExceptionGroup):
        return "; ".join(_words(e) for e in wrong.exceptions)
    return " ".join(str(wrong).split())[:300] or type(wrong).__name__
