"""Events that tell a page to look again: something changed, or the clock of a running run went on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

LOOK = 0.4  # seconds between two looks at the record
BEAT = 2.0  # seconds after which a running run's clock is worth another look


def events(state: Callable[[], Hashable], beating: Callable[[], bool]) -> StreamingResponse:
    """A stream of server-sent events, one for each change of `state`."""
    return StreamingResponse(_stream(state, beating), media_type="text/event-stream")


async def _stream(state: Callable[[], Hashable], beating: Callable[[], bool]) -> AsyncIterator[str]:
    before = await run_in_threadpool(state)
    yield "retry: 1000\n\nevent: here\ndata: 0\n\n"
    count, since = 0, 0.0
    while True:
        await asyncio.sleep(LOOK)
        since += LOOK
        now = await run_in_threadpool(state)
        if now == before and not (since >= BEAT and await run_in_threadpool(beating)):
            if since >= 10 * BEAT:
                since = 0.0
                yield ": still here\n\n"
            continue
        before, since, count = now, 0.0, count + 1
        yield f"event: change\ndata: {count}\n\n"
