"""A store in memory with the semantics of the real one: for what needs no record, and for tests."""

from __future__ import annotations

import hashlib
from typing import Literal

from referee.adapters.store.door import unhidden
from referee.domain.errors import Busy, UsageError, WorldFault
from referee.domain.redaction import Redaction
from referee.ports import Entry, Kind, Lease, RunRecord, RunState, Signal


class MemoryStore:
    """Runs, entries and blobs in dictionaries; leases and fences as in SQLite."""

    def __init__(self, redaction: Redaction | None = None) -> None:
        self.redaction = redaction or Redaction()
        self._runs: dict[str, RunRecord] = {}
        self._owners: dict[str, tuple[str, float]] = {}
        self._entries: dict[str, list[Entry]] = {}
        self._blobs: dict[str, bytes] = {}
        self._signals: dict[tuple[str, str], dict[str, Signal]] = {}

    def create(self, run_id: str, spec: str, at: str) -> None:
        """Record a new run."""
        if run_id in self._runs:
            raise WorldFault(f"run {run_id} exists")
        spec = self.redaction.document(spec)
        self._runs[run_id] = RunRecord(run_id=run_id, status="running", spec=spec, created=at, fence=0)
        self._entries[run_id] = []

    def claim(self, run_id: str, owner: str, now: float, ttl: float, *, begin: bool = True) -> Lease:
        """Take the run."""
        record = self._runs.get(run_id)
        if record is None:
            raise UsageError(f"there is no run {run_id}; `referee runs` lists them")
        holder, until = self._owners.get(run_id, ("", 0.0))
        if holder and until >= now:
            raise Busy(f"run {run_id} is being worked on by {holder}; wait for it or stop it first")
        self._owners[run_id] = (owner, now + ttl)
        status = "running" if begin else record.status
        self._runs[run_id] = record.model_copy(update={"fence": record.fence + 1, "status": status})
        return Lease(run_id=run_id, fence=record.fence + 1, seen=max(0.0, until - ttl) if holder else 0.0)

    def renew(self, lease: Lease, now: float, ttl: float) -> None:
        """Keep the run."""
        self._check(lease)
        self._owners[lease.run_id] = (self._owners[lease.run_id][0], now + ttl)

    def append(self, lease: Lease, entry: Entry, *, durable: bool = True) -> None:
        """Add an entry; memory knows no difference."""
        unhidden(self.redaction, entry)
        self._check(lease)
        entries = self._entries[lease.run_id]
        if any((e.key, e.kind) == (entry.key, entry.kind) or e.n == entry.n for e in entries):
            raise WorldFault(f"entry {entry.key} {entry.kind} exists")
        entries.append(entry)
        self._runs[lease.run_id] = self._runs[lease.run_id].model_copy(update={"head": entry.digest})

    def finish(self, lease: Lease, status: Literal["done", "waiting"], outcome: str) -> None:
        """Close the run."""
        self._check(lease)
        outcome = self.redaction.document(outcome, forms=True)
        self._runs[lease.run_id] = self._runs[lease.run_id].model_copy(update={"status": status, "outcome": outcome})
        self._owners.pop(lease.run_id, None)

    def release(self, lease: Lease) -> None:
        """Give the lease back."""
        if self._runs[lease.run_id].fence == lease.fence:
            self._owners.pop(lease.run_id, None)

    def entries(self, run_id: str, after: int = 0, most: int = 0) -> tuple[Entry, ...]:
        """A run's entries, or a part of them."""
        found = [e for e in self._entries.get(run_id, ()) if e.n > after]
        return tuple(found[:most] if most else found)

    def last(self, run_id: str) -> int:
        """The number of a run's last entry."""
        return max((e.n for e in self._entries.get(run_id, ())), default=0)

    def questions(self) -> tuple[tuple[str, Entry], ...]:
        """What runs have asked people and been answered."""
        kinds = (Kind.ASKED, Kind.ANSWERED)
        return tuple((run, e) for run, entries in self._entries.items() for e in entries if e.kind in kinds)

    def leave(self, run_id: str, topic: str, signal: Signal) -> bool:
        """Leave a signal, unless there is one of that name."""
        left = self._signals.setdefault((run_id, topic), {})
        signal = signal.model_copy(update={"payload": self.redaction.document(signal.payload)})
        return run_id in self._runs and left.setdefault(signal.name, signal) is signal

    def left(self, run_id: str, topic: str) -> tuple[Signal, ...]:
        """What was left for a run."""
        return tuple(self._signals.get((run_id, topic), {}).values())

    def run(self, run_id: str) -> RunRecord | None:
        """One run."""
        return next((r for r in self.runs() if r.run_id == run_id), None)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, newest first."""
        return tuple(self._seen(r) for r in reversed(self._runs.values()))

    def states(self) -> tuple[RunState, ...]:
        """How all runs stand, newest first."""
        return tuple(RunState(run_id=r.run_id, status=r.status, fence=r.fence) for r in self.runs())

    def put(self, data: bytes, *, durable: bool = True) -> str:
        """Store a blob."""
        data = self.redaction.data(data)
        digest = hashlib.sha256(data).hexdigest()
        self._blobs[digest] = data
        return digest

    def get(self, digest: str) -> bytes:
        """Read a blob."""
        if digest not in self._blobs:
            raise WorldFault(f"blob {digest[:12]} is missing")
        return self._blobs[digest]

    def close(self) -> None:
        """Nothing to close."""

    def _seen(self, record: RunRecord) -> RunRecord:
        stopped = record.status == "running" and record.run_id not in self._owners
        return record.model_copy(update={"status": "stopped"}) if stopped else record

    def _check(self, lease: Lease) -> None:
        if self._runs[lease.run_id].fence != lease.fence:
            raise WorldFault(f"run {lease.run_id} was taken over by another process; this one stops here")
