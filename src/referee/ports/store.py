"""Where runs, their journals and what belongs to them are kept."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Protocol

from referee.domain.redaction import Redaction
from referee.domain.value import Value


class Kind(StrEnum):
    """What a journal entry records."""

    OPENED = "opened"
    REQUESTED = "requested"
    ANSWERED = "answered"
    ENDED = "ended"
    NOTED = "noted"  # loud: something a person should know
    ASKED = "asked"  # a question to a person
    DECIDED = "decided"  # what the flow decided, so that a replay can be compared


class Entry(Value):
    """One line of a journal; `prev` and `digest` chain the entries so that an edit shows.

    `payload` is canonical JSON. Entries are unique by (run, key, kind).
    """

    n: int
    at: str
    key: str
    kind: Kind
    action: str = ""
    payload: str = "{}"
    prev: str = ""
    digest: str = ""


class RunRecord(Value):
    """A run as the store keeps it: `spec` is what is needed to resume it.

    `running` is a run that a living process may be working on, `stopped` one that waits to be resumed. `head` is the
    digest of its last entry.
    """

    run_id: str
    status: Literal["running", "stopped", "done", "waiting"]
    spec: str
    created: str
    fence: int
    outcome: str = ""
    head: str = ""


class RunState(Value):
    """How a run stands, as in its record; `fence` counts how often it was worked on."""

    run_id: str
    status: Literal["running", "stopped", "done", "waiting"]
    fence: int


class Lease(Value):
    """The right to write to a run; a newer `fence` ends it.

    `seen` is the last sign of life of a holder that did not give the run back, in seconds since the epoch; else 0.
    """

    run_id: str
    fence: int
    seen: float = 0.0


class Signal(Value):
    """Something left for a run by another process, under a `name` of its own."""

    name: str
    payload: str
    at: str


class Store(Protocol):
    """Durable, fenced, append-only. What a method did is on the disk when it returns, but where `durable` says not.

    What `redaction` hides is hidden before it is written, whatever is handed over: specs, outcomes, signals and blobs.
    """

    @property
    def redaction(self) -> Redaction:
        """The secrets that are hidden here."""
        ...

    def create(self, run_id: str, spec: str, at: str) -> None: ...
    def claim(self, run_id: str, owner: str, now: float, ttl: float, *, begin: bool = True) -> Lease:
        """Take the run. Raises `Busy` naming the owner if another process holds a live lease.

        Without `begin` the run stays ended, or stopped, as it is: for what is done about it, not for it.
        """
        ...

    def renew(self, lease: Lease, now: float, ttl: float) -> None:
        """Raises `WorldFault` if the lease was taken over."""
        ...

    def append(self, lease: Lease, entry: Entry, *, durable: bool = True) -> None:
        """Add an entry, chained already. Raises `WorldFault` if the lease was taken over, or if a secret is in it.

        It outlives this process in any case. One that is not `durable` may be lost with the power, but then all that
        was appended after it is lost too: the next durable entry makes everything before it durable.
        """
        ...

    def finish(self, lease: Lease, status: Literal["done", "waiting"], outcome: str) -> None:
        """End it; all that was appended and put is durable now.

        The outcome is only ever shown, so what merely looks like a key is hidden in it, too.
        """
        ...

    def release(self, lease: Lease) -> None:
        """Give the run back without ending it, so that it can be resumed at once."""
        ...

    def entries(self, run_id: str, after: int = 0, most: int = 0) -> tuple[Entry, ...]:
        """A run's entries in order: those with a number above `after`, of them the first `most` if that is given."""
        ...

    def last(self, run_id: str) -> int:
        """The number of a run's last entry, 0 if it has none."""
        ...

    def run(self, run_id: str) -> RunRecord | None: ...
    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, newest first."""
        ...

    def states(self) -> tuple[RunState, ...]:
        """How all runs stand, newest first: cheap, however much they hold."""
        ...

    def questions(self) -> tuple[tuple[str, Entry], ...]:
        """What all runs have asked people and been answered, oldest run first: entries, each with its run's id."""
        ...

    def leave(self, run_id: str, topic: str, signal: Signal) -> bool:
        """Leave a signal for a run, whoever works on it; False if there is one of that name, which stays."""
        ...

    def left(self, run_id: str, topic: str) -> tuple[Signal, ...]:
        """What was left for a run, in order."""
        ...

    def put(self, data: bytes, *, durable: bool = True) -> str:
        """Store a blob; the SHA-256 in hex of what is stored. It outlives this process in any case.

        One that is not `durable` may be lost with the power until the run is finished or given back: for what a
        resumed run works out and puts again.
        """
        ...

    def get(self, digest: str) -> bytes:
        """A blob, verified against its digest. Raises `WorldFault` if it is missing or damaged."""
        ...

    def close(self) -> None: ...


class Shelf(Protocol):
    """Facts about trees, kept from run to run for a day. Losing one costs time, never truth."""

    def get(self, key: str) -> bytes | None:
        """The fact as it was put, or None if it is missing, old or damaged."""
        ...

    def put(self, key: str, data: bytes) -> None:
        """Keep it, in place of an earlier one. Raises `WorldFault` if the disk refuses."""
        ...
