"""Passing bytes both ways: all of them, in order, whoever is slow and whoever stops first."""

from __future__ import annotations

import socket
import threading

from hypothesis import example, given, settings
from hypothesis import strategies as st

from referee.adapters.sandbox.egress.record import Record
from referee.adapters.sandbox.egress.relay import relay
from referee.ports import Contact

PIECES = st.lists(st.integers(1, 90_000), max_size=12)


class End(threading.Thread):
    """One side: reads to the end, from the start or only when it has written its first piece; then writes no more."""

    def __init__(self, wire: socket.socket, pieces: list[int], first: int, late: bool) -> None:
        super().__init__(daemon=True)
        self._wire, self._first, self._late = wire, first, late
        self._pieces = pieces
        self.wrote = self.heard = b""

    def run(self) -> None:
        reader = threading.Thread(target=self._read, daemon=True)
        for number, size in enumerate((0, *self._pieces)):
            data = bytes([(self._first + number) % 256]) * size
            self.wrote += data
            self._wire.sendall(data)
            if number == (1 if self._late and self._pieces else 0):
                reader.start()
        self._wire.shutdown(socket.SHUT_WR)
        reader.join()

    def _read(self) -> None:
        while piece := self._wire.recv(30_000):
            self.heard += piece


@given(PIECES, PIECES, st.binary(max_size=100), st.booleans())
@example([90_000] * 12, [90_000] * 12, b"", False)
@example([], [90_000] * 12, b"early", True)
@settings(max_examples=30)
def test_every_byte_arrives_in_order(out: list[int], back: list[int], early: bytes, late: bool) -> None:
    (a, inner), (outer, b) = socket.socketpair(), socket.socketpair()
    record = Record(1 << 30)
    tally = record.let_out("x")
    tally.connected()
    ends = End(a, out, 0, late), End(b, back, 100, late)
    with a, b, inner, outer:
        for end in ends:
            end.start()
        relay(inner, outer, tally, early, idle=20)
        inner.close()
        outer.close()
        for end in ends:
            end.join(20)
    assert ends[1].heard == early + ends[0].wrote
    assert ends[0].heard == ends[1].wrote
    counted = Contact(target="x", sent=len(ends[1].heard), received=len(ends[0].heard))
    assert record.contacts() == (counted,)
