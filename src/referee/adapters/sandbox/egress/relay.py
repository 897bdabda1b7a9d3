"""Passing bytes both ways between two sockets, without one direction ever waiting for the other."""

from __future__ import annotations

import select
import socket
import time

from referee.adapters.sandbox.egress.record import Tally

IDLE_SECONDS = 120.0
_CHUNK, _AHEAD = 1 << 16, 1 << 18


class Idle(Exception):
    """Nothing came from either side for too long."""


class _Way:
    """One direction: what was read and is not yet written."""

    def __init__(self, source: socket.socket, sink: socket.socket, waiting: bytes = b"") -> None:
        self.source, self.sink = source, sink
        self.waiting = bytearray(waiting)
        self.ended = self.closed = False

    @property
    def wants_more(self) -> bool:
        return not self.ended and len(self.waiting) < _AHEAD

    def take(self) -> int:
        """Read what there is; how many bytes."""
        data = self.source.recv(_CHUNK)
        self.ended = not data
        self.waiting += data
        return len(data)

    def give(self) -> None:
        """Write what can be written, and pass an end on."""
        if self.waiting:
            del self.waiting[: self.sink.send(self.waiting)]
        if self.ended and not self.waiting and not self.closed:
            self.closed = True
            self.sink.shutdown(socket.SHUT_WR)


def relay(inner: socket.socket, outer: socket.socket, tally: Tally, early: bytes, idle: float = IDLE_SECONDS) -> None:
    """Pass bytes until both directions have ended; `early` came from `inner` already.

    Raises `Idle`, `Spent` when the command has had all bytes that it may, or `OSError` when a side breaks off.
    """
    inner.setblocking(False)
    outer.setblocking(False)
    out, back = _Way(inner, outer, early), _Way(outer, inner)
    tally.add(sent=len(early))
    deadline = time.monotonic() + idle
    while not (out.closed and back.closed):
        ready = _wait(out, back, deadline - time.monotonic())
        if not ready:
            raise Idle
        deadline = time.monotonic() + idle
        if ready.get(inner.fileno(), 0) & _READ and out.wants_more:
            tally.add(sent=out.take())
        if ready.get(outer.fileno(), 0) & _READ and back.wants_more:
            tally.add(received=back.take())
        for way in (out, back):
            _try_to_give(way)


_READ = select.POLLIN | select.POLLHUP | select.POLLERR


def _wait(out: _Way, back: _Way, seconds: float) -> dict[int, int]:
    """What can be read or written, by descriptor; nothing if that takes longer."""
    wanted = {out.source.fileno(): 0, back.source.fileno(): 0}
    for way in (out, back):
        if way.wants_more:
            wanted[way.source.fileno()] |= select.POLLIN
        if way.waiting:
            wanted[way.sink.fileno()] |= select.POLLOUT
    poll = select.poll()
    for fd, events in wanted.items():
        if events:  # or a side that has hung up would be ready for ever
            poll.register(fd, events)
    return dict(poll.poll(max(0.0, seconds) * 1000))


def _try_to_give(way: _Way) -> None:
    try:
        way.give()
    except BlockingIOError:
        return  # it does not take more now; the poll says when
