"""Reading what a command writes while it runs, in bounded memory (cases E9, E10)."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_CHUNK = 1 << 16
FLOOD = 64  # a stream this many times over its cap ends the command


Listener = Callable[[str, bytes], None]
"""Is told the name of a stream, `stdout` or `stderr`, and what was written to it, as it comes."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard(listener: Listener | None) -> Iterator[None]:
    """What commands write that this thread runs meanwhile is also told to `listener`, all of it; or to nobody."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


_feeder: ContextVar[int | None] = ContextVar("feeder", default=None)


@contextmanager
def fed(descriptor: int | None) -> Iterator[None]:
    """Commands that this thread runs meanwhile read their standard input from `descriptor`; else it is empty."""
    token = _feeder.set(descriptor)
    try:
        yield
    finally:
        _feeder.reset(token)


def feeder() -> int | None:
    """Where a command that is started now reads its standard input from, if anywhere."""
    return _feeder.get()


class Capped:
    """The first and the last bytes of a stream, half of `cap` each; `total` counts them all.

    A stream with a `name` is also told to whoever listens (see `heard`).
    """

    def __init__(self, cap: int, name: str = "") -> None:
        self._name, self._listener = name, _listener.get() if name else None
        self._head_room, self._tail_room = cap - cap // 2, cap // 2
        self._cap = cap
        self._head, self._tail = bytearray(), bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self.total += len(data)
        if self._listener is not None:
            self._listener(self._name, data)
        room = self._head_room - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail += data
        if len(self._tail) > self._tail_room + (_CHUNK << 2):
            del self._tail[: len(self._tail) - self._tail_room]

    @property
    def flooded(self) -> bool:
        """Whether the command writes so much that it must be stopped."""
        return self.total > self._cap * FLOOD

    @property
    def content(self) -> bytes:
        """What was kept; a line in the middle says how much was not."""
        if self.total <= self._cap:
            return bytes(self._head + self._tail)
        tail = self._tail[len(self._tail) - self._tail_room :] if self._tail_room else bytearray()
        dropped = self.total - len(self._head) - len(tail)
        return bytes(self._head) + b"\n[... %d bytes left out ...]\n" % dropped + bytes(tail)


class Whole:
    """A stream that is useless in part: kept entirely, up to `cap`, beyond which the command is stopped."""

    def __init__(self, cap: int) -> None:
        self._cap, self._kept = cap, bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self.total += len(data)
        self._kept += data[: max(0, self._cap - len(self._kept))]

    @property
    def flooded(self) -> bool:
        """Whether more came than is kept."""
        return self.total > self._cap

    @property
    def content(self) -> bytes:
        """What was kept."""
        return bytes(self._kept)


Stream = Capped | Whole


def drain(
    streams: Mapping[int, Stream], control: socket.socket, patience: float, until: socket.socket | None = None
) -> bytes:
    """Read all `streams` to their ends and the report on `control`; stop a flood through `control`.

    Returns the report: empty if the other side died without one, if nothing came for `patience` seconds, or if
    something can be read from `until` first.
    """
    poll, report, stopped = select.poll(), b"", False
    waiting = set(streams) | {control.fileno()}
    deadline = time.monotonic() + patience
    for fd in waiting | ({until.fileno()} if until else set()):
        poll.register(fd, select.POLLIN)
    while waiting:
        ready = [fd for fd, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1000)]
        if not ready or (until and until.fileno() in ready):
            return report
        for fd in ready:
            data = os.read(fd, _CHUNK)
            if not data:
                poll.unregister(fd)
                waiting.discard(fd)
            elif fd == control.fileno():
                report += data
            else:
                streams[fd].feed(data)
        if not stopped and any(s.flooded for s in streams.values()):
            control.sendall(b"output")
            stopped = True
    return report
