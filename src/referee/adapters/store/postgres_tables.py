"""The tables of a journal in PostgreSQL, and how they come to be."""

from __future__ import annotations

from typing import Any

from referee.adapters.postgres import Link
from referee.domain.errors import UsageError

# Each takes a state to the next version. `place` is the repository's root; a run's own columns change at every entry,
# so its row leaves room beside it.
_FIRST = """
create table referee.run (
    run_id text primary key, place text not null, spec text not null, status text not null,
    owner text not null default '', fence bigint not null default 0, lease_until double precision not null default 0,
    created text not null, outcome text not null default '', head text not null default '',
    seq bigint generated always as identity
) with (fillfactor = 60);
create index run_of_place on referee.run (place, created);
create table referee.entry (
    run_id text not null references referee.run, n bigint not null, at text not null, key text not null,
    kind text not null, action text not null, payload text not null, prev text not null, digest text not null,
    primary key (run_id, n), unique (run_id, key, kind)
);
create index entry_of_people on referee.entry (run_id, n) where kind in ('asked', 'answered');
create table referee.signal (
    run_id text not null references referee.run, topic text not null, message text not null,
    payload text not null, at text not null, seq bigint generated always as identity,
    primary key (run_id, topic, message)
);
create table referee.blob (digest text primary key, data bytea not null);
alter table referee.blob alter column data set storage external;
create function referee.refuse() returns trigger language plpgsql as
$$ begin raise exception 'entries are append-only'; end $$;
create trigger entry_is_append_only before update or delete or truncate on referee.entry
    for each statement execute function referee.refuse();
"""
_WORKERS = """
create table referee.worker (
    name text primary key, owner text not null, seen timestamptz not null default clock_timestamp()
);
"""
_PACE = "create table referee.pace (provider text primary key, free_at timestamptz not null);"
_MIGRATIONS = (_FIRST, _WORKERS, _PACE)
VERSION = len(_MIGRATIONS)


def migrate(link: Link) -> tuple[int, int]:
    """Bring the tables up to date; the version before and now. Raises `UsageError` if a newer referee made them."""
    with link.transaction() as db:
        # Whoever comes second waits here and then finds it done.
        db.execute("select pg_advisory_xact_lock(hashtext('referee.migrate'))")
        before = found(db)
        checked(before, at_most=True)
        if not before:
            db.execute("create schema if not exists referee")
            db.execute("create table referee.version (n integer not null)")
        for script in _MIGRATIONS[before:]:
            db.execute(script)
        db.execute("delete from referee.version")
        db.execute("insert into referee.version values (%s)", (VERSION,))
    return before, VERSION


def found(db: Any) -> int:
    """The version of the tables that are there; 0 for none."""
    there = db.execute("select to_regclass('referee.version')").fetchone()[0]
    return int(db.execute("select max(n) from referee.version").fetchone()[0]) if there else 0


def checked(version: int, *, at_most: bool = False) -> None:
    """Raise `UsageError` unless this referee can use tables of that version."""
    if version > VERSION:
        raise UsageError(f"the database was migrated by a newer referee (version {version}); upgrade referee")
    if version < VERSION and not at_most:
        raise UsageError("the database has no tables of this referee yet; type: referee db migrate")
