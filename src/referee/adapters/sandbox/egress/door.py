"""The proxy of one command: it accepts in the command's network namespace and connects in ours.

The listening socket is made inside, before the command starts, and handed out over a socket that is closed then. So
there is no file, no program and no descriptor inside that belongs to the proxy, and it ends with the command.
"""

from __future__ import annotations

import contextlib
import os
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
_NAP = 0.05
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
        self._gate: socket.socket | None = None
        self._wake, self._sleeper = socket.socketpair()
        self._lock = threading.Lock()
        self._busy: set[threading.Thread] = set()
        self._acceptor = threading.Thread(target=self._accept, name="egress", daemon=True)
        self.contacts: tuple[Contact, ...] = ()

    def hand_over(self) -> int:
        """The descriptor on which the inside sends its listening socket; whoever takes it closes it."""
        return self._theirs.detach()

    def wait_in(self, folder: str, owner: tuple[int, int]) -> None:
        """The same where no descriptor can be passed: whoever is first at the socket `door` in `folder` sends it there.

        That is the inside before the command starts; nobody after it is heard.
        """
        gate = socket.socket(socket.AF_UNIX)
        held = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            gate.bind(f"/proc/self/fd/{held}/door")  # whose path may be longer than an address
            os.chown("door", *owner, dir_fd=held)
        finally:
            os.close(held)
        gate.listen(1)
        self._gate = gate
        threading.Thread(target=self._let_in, args=(gate,), name="egress gate", daemon=True).start()

    def _let_in(self, gate: socket.socket) -> None:
        """Pass on what the first visitor of the gate sends, and close it."""
        with gate, contextlib.suppress(OSError):
            wire, _ = gate.accept()
            gate.close()
            with wire:
                _, descriptors, _, _ = socket.recv_fds(wire, 1, 1)
            socket.send_fds(self._theirs, [b"d"], descriptors)
            for fd in descriptors:
                os.close(fd)

    def __enter__(self) -> Door:
        self._acceptor.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Hear what was asked before the command ended, connect to nothing more, close everything."""
        self._visit.end()
        self._wake.close()
        for end in (self._ours, self._gate):
            with contextlib.suppress(OSError):
                if end is not None:
                    end.shutdown(socket.SHUT_RDWR)
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
                self._admit_all(listener)

    def _admit_all(self, listener: socket.socket) -> None:
        """Everybody who waits now."""
        try:
            while True:
                self._admit(listener.accept()[0])
        except OSError as wrong:
            if not isinstance(wrong, BlockingIOError):
                time.sleep(_NAP)  # somebody hung up, or there is no descriptor for them: others are heard all the same

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
