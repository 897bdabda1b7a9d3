"""The journal in SQLite: write-ahead log, synchronous=FULL, leases with fencing, one writer per run."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from referee.adapters.store.blobs import Blobs
from referee.adapters.store.door import unhidden
from referee.adapters.store.mirror import Mirror
from referee.adapters.store.owner import alive, brief
from referee.adapters.store.rows import entry_of, fenced, record_of, state_of
from referee.domain.errors import Busy, UsageError, WorldFault
from referee.domain.redaction import Redaction
from referee.ports import Entry, Lease, RunRecord, RunState, Signal

SCHEMA_VERSION = 3
_FIRST = """
create table run (
    run_id text primary key, spec text not null, status text not null, owner text not null default '',
    fence integer not null default 0, lease_until real not null default 0, created text not null,
    outcome text not null default ''
) strict;
create table entry (
    run_id text not null references run(run_id), n integer not null, at text not null, key text not null,
    kind text not null, action text not null, payload text not null, prev text not null, digest text not null,
    primary key (run_id, n), unique (run_id, key, kind)
) strict;
create table signal (
    run_id text not null references run(run_id), topic text not null, message text not null,
    payload text not null, at text not null, primary key (run_id, topic, message)
) strict;
create trigger entry_is_append_only before update on entry begin select raise(abort, 'entries are append-only'); end;
create trigger entry_stays before delete on entry begin select raise(abort, 'entries are append-only'); end;
"""
# Where a run's entries end, so that some cut off at the end show, too.
_HEADS = """
alter table run add column head text not null default '';
update run set head = coalesce((select digest from entry where run_id = run.run_id order by n desc limit 1), '');
create trigger entry_is_last after insert on entry begin
    update run set head = new.digest where run_id = new.run_id; end;
"""
# Questions are looked for in all runs at once.
_ASKED = "create index entry_of_people on entry(run_id, n) where kind in ('asked', 'answered');"
_MIGRATIONS = (_FIRST, _HEADS, _ASKED)  # each takes a state to the next version
_ENTRIES = """
select run_id, n, at, key, kind, action, payload, prev, digest from entry
where run_id = ? and n > ? order by n limit ?
"""
_QUESTIONS = """
select run_id, n, at, key, kind, action, payload, prev, digest from entry join run using (run_id)
where kind in ('asked', 'answered') order by created, run_id, n
"""
_INSERT = """
insert into entry select :run_id, :n, :at, :key, :kind, :action, :payload, :prev, :digest
from run where run_id = :run_id and fence = :fence
"""
_RUNS = "select run_id, status, spec, created, fence, outcome, head, owner, lease_until from run "
_STATES = "select run_id, status, fence, owner, lease_until from run order by created desc, rowid desc"
_CLAIM = """
update run set owner = ?, fence = fence + 1, lease_until = ?, status = iif(?, 'running', status)
where run_id = ? and (lease_until < ? or owner = '' or owner = ?) returning fence
"""


class SqliteStore:
    """A store in one folder: `state.db`, its mirror `journal.jsonl`, and `blobs/`.

    Raises `WorldFault` when the disk refuses and `UsageError` for a state of a newer version.
    """

    def __init__(self, folder: str, redaction: Redaction | None = None) -> None:
        self.redaction = redaction or Redaction()
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise WorldFault(f"{folder} cannot be made: {error}") from error
        self._lock = threading.RLock()
        self._blobs = Blobs(os.path.join(folder, "blobs"))
        self._mirror = Mirror(os.path.join(folder, "journal.jsonl"))
        self._level = "full"
        path = os.path.join(folder, "state.db")
        with self._guarded():
            # Our own lock serialises use, so one connection may serve the lease's thread too.
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
            # What is not text any more must be seen by whoever checks the chain, not stop them.
            self._db.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = full")
            self._db.execute("pragma foreign_keys = on")
            self._migrate(path)

    def _migrate(self, path: str) -> None:
        self._db.execute("begin immediate")
        version = int(self._db.execute("pragma user_version").fetchone()[0])
        if version > SCHEMA_VERSION:
            self._db.execute("rollback")
            raise UsageError(f"{path} was written by a newer referee (state version {version}); upgrade referee")
        for script in _MIGRATIONS[version:]:
            for statement in _statements(script):
                self._db.execute(statement)
        self._db.execute(f"pragma user_version = {SCHEMA_VERSION}")
        self._db.execute("commit")

    @contextmanager
    def _guarded(self, level: str = "full") -> Iterator[None]:
        """At the level `normal` a commit does not wait for the disk: the next sync of the log is for all before it."""
        with self._lock:
            try:
                if level != self._level:
                    self._db.execute(f"pragma synchronous = {level}")
                    self._level = level
                yield
            except sqlite3.Error as error:
                raise WorldFault(f"the journal could not be used: {error}; check the disk under .harness/") from error

    def create(self, run_id: str, spec: str, at: str) -> None:
        """Record a new run."""
        spec = self.redaction.document(spec)
        with self._guarded():
            self._db.execute(
                "insert into run(run_id, spec, status, created) values (?,?,'running',?)", (run_id, spec, at)
            )

    def claim(self, run_id: str, owner: str, now: float, ttl: float, *, begin: bool = True) -> Lease:
        """Take the run, or say who has it."""
        with self._guarded():
            held = self._db.execute("select owner, lease_until from run where run_id = ?", (run_id,)).fetchone()
            if held is None:
                raise UsageError(f"there is no run {run_id}; `referee runs` lists them")
            # A killed owner's lease ends at once: nobody should wait for a process that is gone.
            gone = held[0] if held[0] and alive(held[0]) is False else ""
            row = self._db.execute(_CLAIM, (owner, now + ttl, begin, run_id, now, gone)).fetchone()
            if row is not None:
                seen = max(0.0, held[1] - ttl) if held[0] else 0.0
                return Lease(run_id=run_id, fence=row[0], seen=seen)
        raise Busy(f"run {run_id} is being worked on by {brief(held[0])}; wait for it or stop it first")

    def renew(self, lease: Lease, now: float, ttl: float) -> None:
        """Keep the run; `WorldFault` if it was taken over."""
        with self._guarded():
            change = self._db.execute(
                "update run set lease_until = ? where run_id = ? and fence = ?", (now + ttl, lease.run_id, lease.fence)
            )
        fenced(change.rowcount, lease)

    def append(self, lease: Lease, entry: Entry, *, durable: bool = True) -> None:
        """Add an entry; on return it is in the write-ahead log and, if `durable`, the log is on the disk."""
        unhidden(self.redaction, entry)
        fields = entry.model_dump(mode="json")
        with self._guarded("full" if durable else "normal"):
            fenced(self._db.execute(_INSERT, {**fields, "run_id": lease.run_id, "fence": lease.fence}).rowcount, lease)
            self._mirror.append({"run_id": lease.run_id, **fields})

    def finish(self, lease: Lease, status: Literal["done", "waiting"], outcome: str) -> None:
        """Close the run and give the lease back."""
        outcome = self.redaction.document(outcome, forms=True)
        self._blobs.sync()
        with self._guarded():
            change = self._db.execute(
                "update run set status = ?, outcome = ?, owner = '', lease_until = 0 where run_id = ? and fence = ?",
                (status, outcome, lease.run_id, lease.fence),
            )
        fenced(change.rowcount, lease)

    def release(self, lease: Lease) -> None:
        """Give the lease back without ending the run, so that it can be resumed at once."""
        self._blobs.sync()
        with self._guarded():
            self._db.execute(
                "update run set owner = '', lease_until = 0 where run_id = ? and fence = ?", (lease.run_id, lease.fence)
            )

    def questions(self) -> tuple[tuple[str, Entry], ...]:
        """What runs have asked people and been answered."""
        with self._guarded():
            rows = self._db.execute(_QUESTIONS).fetchall()
        return tuple((row[0], entry_of(row)) for row in rows)

    def leave(self, run_id: str, topic: str, signal: Signal) -> bool:
        """Leave a signal, unless there is one of that name."""
        payload = self.redaction.document(signal.payload)
        with self._guarded():
            change = self._db.execute(
                "insert into signal select run_id, ?, ?, ?, ? from run where run_id = ? on conflict do nothing",
                (topic, signal.name, payload, signal.at, run_id),
            )
        return change.rowcount == 1

    def left(self, run_id: str, topic: str) -> tuple[Signal, ...]:
        """What was left for a run, in order."""
        with self._guarded():
            rows = self._db.execute(
                "select message, payload, at from signal where run_id = ? and topic = ? order by rowid", (run_id, topic)
            ).fetchall()
        return tuple(Signal(name=name, payload=payload, at=at) for name, payload, at in rows)

    def entries(self, run_id: str, after: int = 0, most: int = 0) -> tuple[Entry, ...]:
        """A run's entries in order, or a part of them."""
        with self._guarded():
            rows = self._db.execute(_ENTRIES, (run_id, after, most or -1)).fetchall()
        return tuple(entry_of(row) for row in rows)

    def last(self, run_id: str) -> int:
        """The number of a run's last entry."""
        with self._guarded():
            row = self._db.execute("select max(n) from entry where run_id = ?", (run_id,)).fetchone()
        return row[0] or 0

    def run(self, run_id: str) -> RunRecord | None:
        """One run, or None."""
        return next(iter(self._records("where run_id = ?", run_id)), None)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, newest first."""
        return self._records("order by created desc, rowid desc")

    def states(self) -> tuple[RunState, ...]:
        """How all runs stand, newest first, read without what is long in them."""
        with self._guarded():
            rows = self._db.execute(_STATES).fetchall()
        return tuple(map(state_of, rows))

    def _records(self, which: str, *values: str) -> tuple[RunRecord, ...]:
        with self._guarded():
            rows = self._db.execute(_RUNS + which, values).fetchall()
        return tuple(map(record_of, rows))

    def put(self, data: bytes, *, durable: bool = True) -> str:
        """Store a blob."""
        return self._blobs.put(self.redaction.data(data), durable=durable)

    def get(self, digest: str) -> bytes:
        """Read a blob, verified."""
        return self._blobs.get(digest)

    def close(self) -> None:
        """Close the database."""
        with self._guarded():
            self._db.close()
        self._mirror.close()


def _statements(script: str) -> Iterator[str]:
    text = ""
    for line in script.splitlines():
        text += line + "\n"
        if sqlite3.complete_statement(text):
            yield text
            text = ""
