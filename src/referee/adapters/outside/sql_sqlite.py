"""Migrations of a SQLite file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

from referee.adapters.outside.sql_faults import Refused, Unsure

_TABLE = "create table if not exists referee_migration (key text primary key, at text not null)"
# A script that ended the transaction itself would leave half of it behind.
_FORBIDDEN = (sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT, sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH,
              sqlite3.SQLITE_PRAGMA)  # fmt: skip


class Sqlite:
    """A database in a file that is there already."""

    def __init__(self, path: str) -> None:
        self._path = path

    def apply(self, script: str, key: str, seconds: float) -> None:
        """Run the script and record the key in one transaction."""
        try:
            with closing(self._opened(seconds)) as database:
                database.execute("begin immediate")
                database.execute(_TABLE)
                if database.execute("select 1 from referee_migration where key = ?", (key,)).fetchone():
                    database.execute("rollback")
                    return
                now = datetime.now(UTC).isoformat(timespec="seconds")
                database.execute("insert into referee_migration values (?, ?)", (key, now))
                database.set_authorizer(_permitted)
                for statement in _statements(script):
                    database.execute(statement)
                database.set_authorizer(None)
                database.execute("commit")
        except sqlite3.Error as error:  # closing without a commit takes everything back
            raise Refused(f"the database refused: {error}; nothing was changed") from error

    def applied(self, key: str) -> bool:
        """Whether the key is recorded."""
        try:
            with closing(self._opened(5.0)) as database:
                kept = database.execute("select 1 from sqlite_master where name = 'referee_migration'").fetchone()
                return kept is not None and (
                    database.execute("select 1 from referee_migration where key = ?", (key,)).fetchone() is not None
                )
        except (sqlite3.Error, Refused) as error:
            raise Unsure(f"the database cannot be read: {error}") from error

    def _opened(self, seconds: float) -> sqlite3.Connection:
        if not os.path.isfile(self._path):
            raise Refused(f"there is no database {self._path}; nothing was changed")
        return sqlite3.connect(self._path, isolation_level=None, timeout=min(30.0, seconds))


def _permitted(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_DENY if action in _FORBIDDEN else sqlite3.SQLITE_OK


def _statements(script: str) -> Iterator[str]:
    text = ""
    for part in script.split(";"):
        text += part + ";"
        if sqlite3.complete_statement(text):
            yield text
            text = ""
    if text.strip(" \t\r\n;"):
        yield text
