"""What went through the proxy and what did not, kept in bounded memory whatever a command tries."""

from __future__ import annotations

import threading

from referee.ports import Contact

_MOST = 200  # different contacts that are told apart; the rest are counted together
_REST = "(further destinations)"


class Spent(Exception):
    """The command has used up the bytes that it may exchange."""


OVER = "the command had ended"


class Tally:
    """One connection that is allowed, from before it is made; what it ends as if nothing more comes is `refused`."""

    def __init__(self, record: Record, target: str, injected: str = "") -> None:
        self._record, self.target, self.injected = record, target, injected
        self.sent = self.received = 0
        self.refused = OVER

    def connected(self) -> None:
        """It exists; count its bytes."""
        self.refused = ""

    def add(self, sent: int = 0, received: int = 0) -> None:
        """Count bytes before they are passed on. Raises `Spent`."""
        self.sent += sent
        self.received += received
        self._record.spend(sent + received)


class Record:
    """All contacts of one command. Safe to use from several threads."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes
        self._lock = threading.Lock()
        self._open: list[Tally] = []
        self._done: dict[tuple[str, str, str], Contact] = {}

    def refused(self, target: str, reason: str) -> None:
        """Something was asked for and not done."""
        with self._lock:
            self._enter(Contact(target=target, refused=reason))

    def let_out(self, target: str, injected: str = "") -> Tally:
        """A connection is about to be made."""
        tally = Tally(self, target, injected)
        with self._lock:
            self._open.append(tally)
        return tally

    def over(self, tally: Tally, refused: str = "") -> None:
        """A connection has ended, with a reason if it was not made or was cut."""
        with self._lock:
            if tally in self._open:
                self._open.remove(tally)
                tally.refused = refused or tally.refused
                self._enter(_contact(tally))

    def spend(self, count: int) -> None:
        """Take from what the command may exchange. Raises `Spent`."""
        with self._lock:
            self._left -= count
            if self._left < 0:
                raise Spent

    def contacts(self) -> tuple[Contact, ...]:
        """Everything so far, connections that are still open included."""
        with self._lock:
            for tally in self._open:
                self._enter(_contact(tally))
            self._open.clear()
            return tuple(self._done.values())

    def _enter(self, contact: Contact) -> None:
        key = (contact.target, contact.refused, contact.injected)
        if key not in self._done and len(self._done) >= _MOST:
            contact = contact.model_copy(update={"target": _REST, "injected": ""})
            key = (_REST, contact.refused, "")
        before = self._done.get(key)
        if before is not None:
            sums = {name: getattr(before, name) + getattr(contact, name) for name in ("times", "sent", "received")}
            contact = contact.model_copy(update=sums)
        self._done[key] = contact


def _contact(tally: Tally) -> Contact:
    return Contact(
        target=tally.target, refused=tally.refused, sent=tally.sent, received=tally.received, injected=tally.injected
    )
