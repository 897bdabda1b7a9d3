"""A hard wall-clock deadline, enforced from outside the call it limits (case C21)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")

GRACE_SECONDS = 1.0  # for a cancelled call to close its sockets before it is left behind


class Overdue(Exception):
    """The call did not end in time."""


class _Call(Generic[T]):
    """One coroutine on a loop and a thread of its own, which can be left behind if they hang."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._work = work
        self._done = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[T] | None = None
        self._result: list[T] = []
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="model call", daemon=True)
        self._thread.start()

    def result(self, seconds: float) -> T:
        """The coroutine's result. Raises `Overdue` once `seconds` have passed, whatever the coroutine does."""
        try:
            if not self._done.wait(seconds):
                raise Overdue
        finally:
            self._stop()
        if self._failure is not None:
            raise self._failure
        return self._result[0]

    def _run(self) -> None:
        try:
            self._result.append(asyncio.run(self._watched()))
        except BaseException as e:  # handed to the caller, who raises it in its own thread
            self._failure = e
        finally:
            self._done.set()

    async def _watched(self) -> T:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(self._work())
        return await self._task

    def _stop(self) -> None:
        if not self._done.is_set() and self._loop is not None and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(GRACE_SECONDS)


def call_within(seconds: float, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work` to its end, but wait no longer than `seconds`; then, or on Ctrl-C, cancel it and go on."""
    return _Call(work).result(seconds)
