"""Which workers are alive: each says so every second, and who is silent for eight is dead.

On the machine that asks, a process that is gone is dead at once, and one that is there is only slow, up to a minute.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from referee.adapters.postgres import Link
from referee.adapters.store.owner import alive, me
from referee.domain.errors import WorldFault

TTL = 8.0  # seconds
BEAT = 1.0
_SLOW = 60.0


class Roll:
    """The workers of a database. The server's clock counts, so those of the machines may differ."""

    def __init__(self, address: str) -> None:
        self._link = Link(address, "the list of workers")

    def enter(self, worker: str) -> None:
        """Begin to be alive, under a name that nobody ever had."""
        with self._link.open() as db:
            db.execute("insert into referee.worker (name, owner) values (%s, %s)", (worker, me()))

    def beat(self, worker: str) -> None:
        """Still alive. Raises `WorldFault` if others took this worker for dead: it must stop what it does."""
        with self._link.open() as db:
            known = db.execute("update referee.worker set seen = clock_timestamp() where name = %s", (worker,)).rowcount
        if not known:
            raise WorldFault(f"worker {worker} was taken for dead, and others have its runs; start it again")

    def leave(self, worker: str) -> None:
        """Not a worker any more."""
        with self._link.open() as db:
            db.execute("delete from referee.worker where name = %s", (worker,))

    @contextmanager
    def dead(self) -> Iterator[tuple[str, ...]]:
        """Those that died, for one worker at a time; they are forgotten once what was theirs has been seen to."""
        with self._link.transaction() as db:
            if not db.execute("select pg_try_advisory_xact_lock(hashtext('referee.worker'))").fetchone()[0]:
                yield ()
                return
            rows = db.execute(
                "select name, owner, extract(epoch from clock_timestamp() - seen)::float8 from referee.worker"
            ).fetchall()
            gone = [name for name, owner, silent in rows if _dead(owner, silent)]
            yield tuple(gone)
            if gone:
                db.execute("delete from referee.worker where name = any(%s)", (gone,))

    def asked_to_stop(self, runs: list[str]) -> frozenset[str]:
        """Those of `runs` that a person wants to stop, as they are worked on now."""
        with self._link.open() as db:
            rows = db.execute(
                "select run_id from referee.signal join referee.run using (run_id) "
                "where topic = 'stop' and message = fence::text and run_id = any(%s)",
                (runs,),
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def close(self) -> None:
        """Close the connection."""
        self._link.close()


def _dead(owner: str, silent: float) -> bool:
    living = alive(owner)
    return living is False or silent > (_SLOW if living else TTL)
