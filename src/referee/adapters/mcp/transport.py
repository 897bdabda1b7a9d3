"""A conversation with a program in the sandbox, as the library's transports are: messages in, messages out."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from referee.adapters.sandbox import fed, heard
from referee.ports import Command, Sandbox

_MOST = 8 << 20  # bytes of one message
_LAST_WORDS = 400
_GRACE = 2.0  # seconds for the program to end by itself once its input has
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError)
Streams = tuple[Any, Any]  # as the library's own transports


@asynccontextmanager
async def inside(sandbox: Sandbox, command: Command, said: list[str]) -> AsyncGenerator[Streams, None]:
    """Start the program; it ends when its standard input does, or else with the sandbox.

    When it has ended, its last words on standard error are added to `said`.
    """
    sender, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](64)
    outgoing, receiver = anyio.create_memory_object_stream[SessionMessage](0)
    source, into = os.pipe()
    lines, over, done = _Lines(), threading.Event(), anyio.Event()

    def listen(stream: str, data: bytes) -> None:
        for message in lines.feed(data) if stream == "stdout" and not over.is_set() else ():
            with suppress(*_GONE):  # who asked is gone; what else it says is nobody's
                anyio.from_thread.run(sender.send, message)

    def play() -> None:
        with heard(listen), fed(source):
            ended = sandbox.run(command)
        how = ended.killed_by or f"exit code {ended.exit_code}"
        said.append(f"{how}; {ended.stderr[-_LAST_WORDS:].decode(errors='replace').strip()}")

    async def run() -> None:
        async with sender:
            await anyio.to_thread.run_sync(play, abandon_on_cancel=True)
        done.set()

    async def write() -> None:
        async for message in receiver:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            with suppress(BrokenPipeError):  # its end is told by the end of what it says
                await anyio.to_thread.run_sync(_whole, into, text.encode() + b"\n")

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            group.start_soon(write)
            try:
                yield incoming, outgoing
            finally:
                over.set()
                os.close(into)
                with anyio.move_on_after(_GRACE, shield=True):
                    await done.wait()
                group.cancel_scope.cancel()
    finally:
        os.close(source)
        for stream in (incoming, outgoing, receiver):
            stream.close()


class _Lines:
    """Messages out of a stream of bytes, one a line."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[SessionMessage | Exception]:
        *whole, rest = (bytes(self._rest) + data).split(b"\n")
        self._rest = bytearray(rest[:_MOST])
        return [_parsed(line) for line in whole if line.strip()]


def _parsed(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as wrong:
        return wrong


def _whole(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
