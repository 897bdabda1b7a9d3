"""The journal in PostgreSQL: tables, leases and fences as in SQLite, for workers on several machines."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

from referee.adapters.postgres import Link
from referee.adapters.store.door import unhidden
from referee.adapters.store.owner import alive, brief
from referee.adapters.store.postgres_tables import checked, found, migrate
from referee.adapters.store.rows import entry_of, fenced, record_of, state_of
from referee.domain.errors import Busy, UsageError, WorldFault
from referee.domain.redaction import Redaction
from referee.ports import Entry, Lease, RunRecord, RunState, Signal

# One statement and so one journey: it holds the run's row while it adds, so that no takeover can come in between.
_APPEND = """
with held as (update referee.run set head = %(digest)s where run_id = %(run_id)s and fence = %(fence)s returning run_id)
insert into referee.entry
select run_id, %(n)s, %(at)s, %(key)s, %(kind)s, %(action)s, %(payload)s, %(prev)s, %(digest)s from held
"""
# The log is sequential, so the next entry that waits for the disk is for all before it.
_UNSYNCED = f"{_APPEND}, (select set_config('synchronous_commit', 'off', true) as mode) as how where mode <> ''"
_ENTRIES = """
select run_id, n, at, key, kind, action, payload, prev, digest from referee.entry
where run_id = %s and n > %s order by n limit %s
"""
_QUESTIONS = """
select run_id, n, at, key, kind, action, payload, prev, digest from referee.entry join referee.run using (run_id)
where kind in ('asked', 'answered') and (place = %(place)s or %(place)s = '') order by created, run_id, n
"""
_RECORDS = "select run_id, status, spec, created, fence, outcome, head, owner, lease_until from referee.run "
_HERE = "where (place = %(place)s or %(place)s = '') "
_STATES = "select run_id, status, fence, owner, lease_until from referee.run "
_CLAIM = """
update referee.run set owner = %s, fence = fence + 1, lease_until = %s,
status = case when %s then 'running' else status end where run_id = %s returning fence
"""


class PostgresStore:
    """The runs of the repository at `place` (of all, without one) in the database at `address`, blobs included.

    Raises `WorldFault` when the server refuses, and `UsageError` if its tables are not those of this version.
    """

    def __init__(self, address: str, place: str = "", redaction: Redaction | None = None) -> None:
        self.redaction = redaction or Redaction()
        self._link, self._place = Link(address, "the journal"), place
        try:
            with self._link.open() as db:
                checked(found(db))
        except BaseException:
            self._link.close()
            raise

    @staticmethod
    def migrate(address: str) -> tuple[int, int]:
        """Make or renew the tables; the version before and now."""
        link = Link(address, "the journal")
        try:
            return migrate(link)
        finally:
            link.close()

    def create(self, run_id: str, spec: str, at: str) -> None:
        """Record a new run."""
        with self._link.open() as db:
            db.execute(
                "insert into referee.run (run_id, place, spec, status, created) values (%s, %s, %s, 'running', %s)",
                (run_id, self._place, self.redaction.document(spec), at),
            )

    def claim(self, run_id: str, owner: str, now: float, ttl: float, *, begin: bool = True) -> Lease:
        """Take the run, or say who has it."""
        with self._link.transaction() as db:
            held = db.execute(
                "select owner, lease_until from referee.run where run_id = %s for update", (run_id,)
            ).fetchone()
            if held is None:
                raise UsageError(f"there is no run {run_id}; `referee runs` lists them")
            if held[0] and held[1] >= now and alive(held[0]) is not False:
                raise Busy(f"run {run_id} is being worked on by {brief(held[0])}; wait for it or stop it first")
            fence = db.execute(_CLAIM, (owner, now + ttl, begin, run_id)).fetchone()[0]
        return Lease(run_id=run_id, fence=fence, seen=max(0.0, held[1] - ttl) if held[0] else 0.0)

    def renew(self, lease: Lease, now: float, ttl: float) -> None:
        """Keep the run; `WorldFault` if it was taken over."""
        self._fenced("update referee.run set lease_until = %s where run_id = %s and fence = %s", lease, now + ttl)

    def append(self, lease: Lease, entry: Entry, *, durable: bool = True) -> None:
        """Add an entry; on return the server has it and, if `durable`, so has its disk."""
        unhidden(self.redaction, entry)
        fields = {**entry.model_dump(mode="json"), "run_id": lease.run_id, "fence": lease.fence}
        with self._link.open() as db:
            fenced(db.execute(_APPEND if durable else _UNSYNCED, fields).rowcount, lease)

    def finish(self, lease: Lease, status: Literal["done", "waiting"], outcome: str) -> None:
        """Close the run and give the lease back."""
        self._fenced(
            "update referee.run set status = %s, outcome = %s, owner = '', lease_until = 0 "
            "where run_id = %s and fence = %s",
            lease, status, self.redaction.document(outcome, forms=True),
        )  # fmt: skip

    def release(self, lease: Lease) -> None:
        """Give the lease back without ending the run, so that it can be resumed at once."""
        with self._link.open() as db:
            db.execute(
                "update referee.run set owner = '', lease_until = 0 where run_id = %s and fence = %s",
                (lease.run_id, lease.fence),
            )

    def questions(self) -> tuple[tuple[str, Entry], ...]:
        """What runs have asked people and been answered."""
        rows = self._rows(_QUESTIONS, {"place": self._place})
        return tuple((row[0], entry_of(row)) for row in rows)

    def leave(self, run_id: str, topic: str, signal: Signal) -> bool:
        """Leave a signal, unless there is one of that name."""
        with self._link.open() as db:
            change = db.execute(
                "insert into referee.signal (run_id, topic, message, payload, at) "
                "select run_id, %s, %s, %s, %s from referee.run where run_id = %s on conflict do nothing",
                (topic, signal.name, self.redaction.document(signal.payload), signal.at, run_id),
            )
            return bool(change.rowcount == 1)

    def left(self, run_id: str, topic: str) -> tuple[Signal, ...]:
        """What was left for a run, in order."""
        rows = self._rows(
            "select message, payload, at from referee.signal where run_id = %s and topic = %s order by seq",
            (run_id, topic),
        )
        return tuple(Signal(name=name, payload=payload, at=at) for name, payload, at in rows)

    def entries(self, run_id: str, after: int = 0, most: int = 0) -> tuple[Entry, ...]:
        """A run's entries in order, or a part of them."""
        rows = self._rows(_ENTRIES, (run_id, after, most or None))
        return tuple(map(entry_of, rows))

    def last(self, run_id: str) -> int:
        """The number of a run's last entry."""
        return int(self._rows("select max(n) from referee.entry where run_id = %s", (run_id,))[0][0] or 0)

    def run(self, run_id: str) -> RunRecord | None:
        """One run, or None."""
        return next(iter(self._records("and run_id = %(run_id)s", run_id=run_id)), None)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, newest first."""
        return self._records("order by created desc, seq desc")

    def states(self) -> tuple[RunState, ...]:
        """How all runs stand, newest first, read without what is long in them."""
        rows = self._rows(f"{_STATES}{_HERE}order by created desc, seq desc", {"place": self._place})
        return tuple(map(state_of, rows))

    def put(self, data: bytes, *, durable: bool = True) -> str:
        """Store a blob; the server makes every one durable."""
        data = self.redaction.data(data)
        digest = hashlib.sha256(data).hexdigest()
        with self._link.open() as db:
            db.execute("insert into referee.blob values (%s, %s) on conflict do nothing", (digest, data))
        return digest

    def get(self, digest: str) -> bytes:
        """Read a blob, verified."""
        rows = self._rows("select data from referee.blob where digest = %s", (digest,))
        if not rows:
            raise WorldFault(f"blob {digest[:12]} is missing from the database")
        data = bytes(rows[0][0])
        if hashlib.sha256(data).hexdigest() != digest:
            raise WorldFault(f"blob {digest[:12]} is damaged; its run can be shown but not resumed")
        return data

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    def _fenced(self, statement: str, lease: Lease, *values: Any) -> None:
        with self._link.open() as db:
            fenced(db.execute(statement, (*values, lease.run_id, lease.fence)).rowcount, lease)

    def _records(self, which: str, **values: str) -> tuple[RunRecord, ...]:
        return tuple(map(record_of, self._rows(_RECORDS + _HERE + which, {"place": self._place, **values})))

    def _rows(self, statement: str, values: Any) -> list[tuple[Any, ...]]:
        with self._link.open() as db:
            return list(db.execute(statement, values).fetchall())
