"""The proxy of one command: it accepts in the command's network namespace and connects in ours.

The listening socket is made inside, before the command starts, and handed out over a socket that is closed then. So
there is no file, no program and no descriptor inside that belongs to the proxy, and it ends with the command.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType

from referee.adapters.sandbox.egress.outside import Outside
from referee.adapters.sandbox.egress.record import Record
from referee.adapters.sandbox.egress.visit import Visit
from referee.ports import Command, Contact, Execution

MOST_AT_ONCE = 64
_LAST_WORDS_SECONDS = 1.0  # for what the command had asked when it ended, so that it is on the record


def through(outside: Outside, command: Command, start: Callable[[Door | None], Execution]) -> Execution:
    """Run `start` with the door that `command` is to have, and put what went through it into its result.

    Raises `UsageError` if the value of a header that is to be added is missing.
    """
    if not command.egress:
        return start(None)
    with Door(outside, command) as door:
        execution = start(door)
    return execution.model_copy(update={"contacts": door.contacts})


class Door:
    """Serves until the context is left; then `contacts` are complete and nothing is connected any more."""

    def __init__(self, outside: Outside, command: Command) -> None:
        self._visit = Visit(outside, command.egress, Record(command.limits.egress_bytes))
        self._ours, self._theirs = socket.socketpair()
        self._wake, self._sleeper = socket.socketpair()
        self._lock = threading.Lock()
        self._busy: set[threading.Thread] = set()
        self._acceptor = threading.Thread(target=self._accept, name="egress", daemon=True)
        self.contacts: tuple[Contact, ...] = ()

    def hand_over(self) -> int:
        """The descriptor on which the inside sends its listening socket; whoever takes it closes it."""
        return self._theirs.detach()

    def __enter__(self) -> Door:
        self._acceptor.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Hear what was asked before the command ended, connect to nothing more, close everything."""
        self._visit.end()
        self._wake.close()
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)
        self._acceptor.join()
        deadline = time.monotonic() + _LAST_WORDS_SECONDS
        for thread in self._visitors():
            thread.join(max(0.0, deadline - time.monotonic()))
        self.contacts = self._visit.record.contacts()
        self._visit.close()
        for end in (self._ours, self._theirs, self._sleeper):
            end.close()

    def _visitors(self) -> tuple[threading.Thread, ...]:
        with self._lock:
            return tuple(self._busy)

    def _accept(self) -> None:
        listener = self._received()
        if listener is None:
            return
        with listener:
            listener.setblocking(False)
            poll = select.poll()
            for end in (listener, self._sleeper):
                poll.register(end, select.POLLIN)
            over = False
            while not over:  # once more after the end, for those that wait already
                over = self._sleeper.fileno() in {fd for fd, _ in poll.poll()}
                with contextlib.suppress(BlockingIOError):
                    while True:
                        self._admit(listener.accept()[0])

    def _received(self) -> socket.socket | None:
        """The listening socket; None if the inside could not be set up."""
        try:
            _, descriptors, _, _ = socket.recv_fds(self._ours, 1, 1)
        except OSError:
            return None
        return socket.socket(fileno=descriptors[0]) if descriptors else None

    def _admit(self, wire: socket.socket) -> None:
        with self._lock:
            crowded = len(self._busy) >= MOST_AT_ONCE
            thread = threading.Thread(target=self._attend, args=(wire,), name="egress visit", daemon=True)
            if not crowded:
                self._busy.add(thread)
        if crowded:
            self._visit.turn_away(wire)
        else:
            thread.start()

    def _attend(self, wire: socket.socket) -> None:
        try:
            self._visit.serve(wire)
        finally:
            with self._lock:
                self._busy.discard(threading.current_thread())
