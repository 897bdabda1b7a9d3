"""From a journal in SQLite to one in PostgreSQL, run by run, as it is."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing

from referee.adapters.postgres import Link
from referee.adapters.store.blobs import Blobs
from referee.domain.errors import UsageError, WorldFault

_RUN = """
insert into referee.run (run_id, place, spec, status, fence, created, outcome, head)
values (%s, %s, %s, %s, %s, %s, %s, %s)
"""
_ENTRY = "insert into referee.entry values (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
_SIGNAL = "insert into referee.signal (run_id, topic, message, payload, at) values (%s, %s, %s, %s, %s)"


def copy(state: str, link: Link, place: str) -> Iterator[tuple[str, bool]]:
    """Copy every run of the folder `state`, oldest first, each whole or not at all; its id, and whether it was copied.

    One that the database has already stays as it is there. Raises `UsageError` if that is another run.
    """
    with closing(sqlite3.connect(f"file:{os.path.join(state, 'state.db')}?mode=ro", uri=True)) as source:
        _copy_blobs(os.path.join(state, "blobs"), link)
        runs = source.execute("select run_id, spec, status, fence, created, outcome, head from run order by rowid")
        for run_id, spec, *rest in runs.fetchall():
            with link.transaction() as db:
                there = db.execute("select place, spec from referee.run where run_id = %s", (run_id,)).fetchone()
                if there is None:
                    db.execute(_RUN, (run_id, place, spec, *rest))
                    with db.cursor() as cursor:
                        cursor.executemany(
                            _ENTRY, _rows(source, "select * from entry where run_id = ? order by n", run_id)
                        )
                        cursor.executemany(
                            _SIGNAL, _rows(source, "select * from signal where run_id = ? order by rowid", run_id)
                        )
            if there is not None and there != (place, spec):
                raise UsageError(
                    f"the database has another run {run_id}, of {there[0]}; nothing of this one was copied"
                )
            yield run_id, there is None


def _rows(source: sqlite3.Connection, statement: str, run_id: str) -> list[tuple[object, ...]]:
    return source.execute(statement, (run_id,)).fetchall()


def _copy_blobs(folder: str, link: Link) -> None:
    blobs = Blobs(folder)
    for part in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        for rest in sorted(os.listdir(os.path.join(folder, part))):
            if len(part + rest) != 64:
                continue  # a file that was being written when the power went
            try:
                data = blobs.get(part + rest)
            except WorldFault:
                continue  # damaged here, and no better there; `journal verify` names the entry that misses it
            with link.open() as db:
                db.execute("insert into referee.blob values (%s, %s) on conflict do nothing", (part + rest, data))
