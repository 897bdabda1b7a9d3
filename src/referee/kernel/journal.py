"""The record of a run: append-only, chained, and the only thing a resumed run needs."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any

from referee.domain.canonical import canonical, digest_of
from referee.domain.cost import Cost
from referee.domain.errors import Diverged, WorldFault
from referee.domain.value import Value
from referee.kernel.action import Effect
from referee.kernel.lease import Keeper
from referee.ports import Clock, Entry, Kind, Lease, Store

INLINE_BYTES = 16_384
LEASE_SECONDS = 30.0
GENESIS = "0" * 64


class Ending(Value):
    """How one try of an action ended. `done` and `rejected` are final; the others are tried again on resume.

    `result` is JSON: for `rejected` the findings, for `exhausted` the stop reason and its detail. A `fault` has its
    message instead.
    """

    outcome: str  # done | rejected | exhausted | fault | lost | waiting
    result: str = ""
    blob: str = ""
    cost: Cost = Cost()
    elapsed: float = 0.0

    @property
    def final(self) -> bool:
        """Whether a replay takes this ending instead of doing the action again."""
        return self.outcome in ("done", "rejected")


def chained(entry: Entry) -> str:
    """The digest that an entry must carry: over its content and its predecessor's digest."""
    return digest_of(entry.model_dump(mode="json", exclude={"digest"}))


class Journal:
    """One run's entries, read once and appended to under a lease.

    All outlive the process. Power loss may take the newest ones that are not durable, and with them nothing that was
    spent, landed or seen: the intention of an irrevocable action waits for the disk, and so does the ending of a
    costly one that a resumed run can recall, unless it took no time to speak of.
    """

    def __init__(self, store: Store, lease: Lease, clock: Clock, seconds: float = LEASE_SECONDS) -> None:
        """`seconds` are those that the lease was taken for."""
        self._store, self._lease, self._clock = store, lease, clock
        self._renewed, self._seconds = clock.monotonic(), seconds
        self._keeper = Keeper(self.renew, seconds)
        self._closed = False
        self._lock = threading.Lock()  # branches append from their own threads
        entries = store.entries(lease.run_id)
        self._by_key = {(e.key, e.kind): e for e in entries}
        self._last = entries[-1] if entries else None
        self._read = entries
        self._elapsed = worked(entries, lease.seen)

    @property
    def lease(self) -> Lease:
        """The right under which it is written."""
        return self._lease

    def requested(self, key: str) -> Entry | None:
        """The request recorded under `key`, if any."""
        return self._by_key.get((key, Kind.REQUESTED))

    def ending(self, key: str) -> Ending | None:
        """How the request under `key` ended, if it did."""
        entry = self._by_key.get((key, Kind.ENDED))
        return None if entry is None else Ending.model_validate_json(entry.payload)

    def found(self, key: str, kind: Kind) -> Entry | None:
        """The entry of that kind under `key`, if there is one."""
        return self._by_key.get((key, kind))

    def check(self, head: str) -> None:
        """Raise `WorldFault` unless every entry up to the one with the digest `head` is as it was written."""
        bad = check_chain(self._read, head)
        if bad is not None:
            run_id = self._lease.run_id
            raise WorldFault(
                f"entry {bad} of the journal of run {run_id} is not as it was written, so the run does not go on; "
                f"see `referee journal verify {run_id}`"
            )

    def now(self) -> float:
        """The time of day, in seconds since the epoch."""
        return self._clock.now()

    def discreet(self, text: str) -> str:
        """A JSON text as it may be recorded: without the secrets that are known."""
        return self._store.redaction.document(text)

    def result(self, ending: Ending) -> str:
        """The JSON text of an ending's result, from the blob store when it was long."""
        return self._store.get(ending.blob).decode() if ending.blob else ending.result

    def request(self, key: str, action: str, facts: Mapping[str, Any], effect: Effect) -> None:
        """Record that an action is about to be done; `facts` name it and say whether a person is asked first."""
        told = {**facts, "effect": effect.value}
        self._append(key, Kind.REQUESTED, (action, told), effect.irrevocable)

    def end(self, key: str, action: str, ending: Ending, *, durable: bool) -> None:
        """Record how it ended; a long result goes into the blob store first."""
        ending = ending.model_copy(update={"result": self.discreet(ending.result)})
        if len(ending.result) > INLINE_BYTES:
            blob = self._store.put(ending.result.encode())  # durable, or a later entry would vouch for what is gone
            ending = ending.model_copy(update={"result": "", "blob": blob})
        self._append(key, Kind.ENDED, (action, ending.model_dump(mode="json")), durable)

    def has(self, kind: Kind) -> bool:
        """Whether there is any entry of that kind."""
        return any(k is kind for _, k in self._by_key)

    def note(self, key: str, kind: Kind, facts: dict[str, Any], *, durable: bool = True) -> None:
        """Record something that is not an action, once per key and kind."""
        if (key, kind) not in self._by_key:
            self._append(key, kind, ("", facts), durable)

    @property
    def elapsed(self) -> float:
        """Seconds of work before this process took the run: where its clock goes on."""
        return self._elapsed

    def _append(self, key: str, kind: Kind, what: tuple[str, dict[str, Any]], durable: bool) -> None:
        with self._lock:
            if self._closed:
                raise WorldFault("the run has ended; nothing more is recorded of it")
            self._append_next(key, kind, what, durable)

    def _append_next(self, key: str, kind: Kind, what: tuple[str, dict[str, Any]], durable: bool) -> None:
        action, payload = what
        if self._clock.monotonic() - self._renewed > self._seconds / 3:
            self.renew()
        at = datetime.fromtimestamp(self._clock.now(), UTC).isoformat(timespec="milliseconds")
        n = self._last.n + 1 if self._last else 1
        prev = self._last.digest if self._last else GENESIS
        # What only tells people something hides also what merely looks like a key.
        told = kind in (Kind.REQUESTED, Kind.NOTED)
        text = self._store.redaction.document(canonical(payload).decode(), forms=told)
        entry = Entry(n=n, at=at, key=key, kind=kind, action=action, payload=text, prev=prev)
        entry = entry.model_copy(update={"digest": chained(entry)})
        self._store.append(self._lease, entry, durable=durable)
        self._by_key[(key, kind)] = self._last = entry

    def close(self) -> None:
        """Take no more entries: what a thread left behind still does is not part of the record."""
        with self._lock:
            self._closed = True

    def kept(self) -> AbstractContextManager[None]:
        """Keep the lease for as long as what this opens is open."""
        return self._keeper.kept()

    def renew(self) -> None:
        """Extend the lease. Raises `WorldFault` if another process took the run over."""
        self._store.renew(self._lease, self._clock.now(), self._seconds)
        self._renewed = self._clock.monotonic()


def worked(entries: tuple[Entry, ...], seen: float) -> float:
    """The run's clock, in seconds, at the last thing known of it: an ending, a request, or a sign of life at `seen`.

    An action that was cut off took time too: without this, a run that is killed again and again would never end.
    """
    clock, since, last = 0.0, None, 0.0  # where the clock stood at the time `since`; what is known up to `last`
    for entry in entries:
        at = datetime.fromisoformat(entry.at).timestamp()
        since = at if since is None else since
        if entry.kind in (Kind.ENDED, Kind.OPENED):
            if entry.kind is Kind.OPENED:  # nobody worked between the end of the last process and this
                clock += max(0.0, last - since)
            clock = max(clock, json.loads(entry.payload).get("elapsed", 0.0))
            since = last = at
        elif entry.kind is not Kind.ANSWERED:  # a person's answer comes when it comes
            last = at
    return clock if since is None else clock + max(0.0, max(last, seen) - since)


def check_chain(entries: tuple[Entry, ...], head: str = "") -> int | None:
    """The number of the first entry that was changed, moved or removed after it was written; None if all are whole.

    With `head`, the digest that the last one must have, entries that are missing at the end show, too.
    """
    prev = GENESIS
    for position, entry in enumerate(entries, start=1):
        if entry.n != position or entry.prev != prev or chained(entry) != entry.digest:
            return entry.n
        prev = entry.digest
    return len(entries) + 1 if head and prev != head else None


def same_request(entry: Entry, action: str, digest: str) -> None:
    """Raise `Diverged` unless `entry` requested this very action."""
    recorded = json.loads(entry.payload)["action_digest"]
    if entry.action != action or recorded != digest:
        raise Diverged(
            f"replay took another path at {entry.key}: the journal holds {entry.action} {recorded[:12]}, "
            f"the run asks for {action} {digest[:12]}"
        )
