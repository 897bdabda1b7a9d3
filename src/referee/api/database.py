"""The journal in a database that several workers share: making its tables, and moving a record there."""

from __future__ import annotations

import os
from importlib.util import find_spec

from referee.adapters.postgres import Link
from referee.adapters.store import SqliteStore
from referee.adapters.store.copying import copy
from referee.adapters.store.postgres import PostgresStore
from referee.config import DATABASE, root_of, secret
from referee.domain.errors import Damaged, UsageError
from referee.domain.value import Value
from referee.kernel.journal import check_chain
from referee.ports import Store
from referee.wiring.desk import STATE


class Migrated(Value):
    """The versions of the tables before and now; 0 is none."""

    before: int
    now: int


class Copied(Value):
    """The runs that were copied, and those that were there already."""

    copied: tuple[str, ...]
    there: tuple[str, ...]


def address() -> str:
    """The database that the environment names. Raises `UsageError` if it names none."""
    given = secret(DATABASE)
    if given is None:
        raise UsageError(f"{DATABASE} is not set; set it to an address such as postgresql://user@host/name")
    return given


def migrate() -> Migrated:
    """Make the tables of the database, or bring them up to date; the engine's too, where it is installed."""
    before, now = PostgresStore.migrate(address())
    if find_spec("dbos") is not None:
        from referee.adapters.engine.line import migrate as migrate_queue

        migrate_queue(address())
    return Migrated(before=before, now=now)


def copy_journal(repo: str = ".") -> Copied:
    """Copy what a repository's own SQLite journal holds into the database; what is there already stays.

    Raises `UsageError` while a run is at work, or if a journal is not as it was written.
    """
    root, link = root_of(repo), Link(address(), "the journal")
    state = os.path.join(root, STATE)
    if not os.path.isfile(os.path.join(state, "state.db")):
        raise UsageError(f"{repo} has no journal of its own to copy; name a repository with --repo")
    try:
        PostgresStore(address()).close()  # whether its tables are there is said before anything is read
        _sound(SqliteStore(state))
        done = list(copy(state, link, root))
    finally:
        link.close()
    _sound(PostgresStore(address(), root))
    return Copied(copied=tuple(r for r, new in done if new), there=tuple(r for r, new in done if not new))


def _sound(store: Store) -> None:
    """Close the store; raise `UsageError` if a run in it is at work or was changed by hand."""
    try:
        for record in store.runs():
            if record.status == "running":
                raise UsageError(f"run {record.run_id} is at work; wait until it ends, or stop it, and copy again")
            try:
                bad = check_chain(store.entries(record.run_id), record.head)
            except Damaged as damaged:
                bad = damaged.n
            if bad is not None:
                raise UsageError(
                    f"entry {bad} of run {record.run_id} is not as it was written; see `referee journal verify`"
                )
    finally:
        store.close()
