"""Migrations of a PostgreSQL database."""

from __future__ import annotations

from typing import Any

from referee.adapters.outside.sql_faults import Refused, Unsure
from referee.adapters.postgres import driver, words

_TABLE = """
create table if not exists referee_migration (key text primary key, at timestamptz not null default now())
"""
# The server itself refuses a commit inside of this, so a script cannot leave half of itself behind.
_SCRIPT = "do $referee$ begin execute current_setting('referee.script'); end $referee$"


class Postgres:
    """A database by its address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def apply(self, script: str, key: str, seconds: float) -> None:
        """Run the script and record the key in one transaction."""
        psycopg = driver()
        try:
            connection = self._opened(seconds)
        except psycopg.Error as error:
            raise Refused(f"no connection: {words(error)}; nothing was changed") from error
        try:
            # Two at once wait for each other here, the second then finds the key.
            connection.execute("select pg_advisory_xact_lock(hashtext('referee_migration'))")
            connection.execute(_TABLE)
            known = connection.execute("select 1 from referee_migration where key = %s", (key,)).fetchone()
            if known is None:
                connection.execute("insert into referee_migration (key) values (%s)", (key,))
                connection.execute("select set_config('referee.script', %s, true)", (script,))
                connection.execute(_SCRIPT)
        except psycopg.Error as error:
            connection.close()  # without a commit, which takes everything back
            raise Refused(f"the database refused: {words(error)}; nothing was changed") from error
        try:
            connection.commit()
        except psycopg.Error as error:
            raise Unsure(f"whether the database kept it is not known: {words(error)}") from error
        finally:
            connection.close()

    def applied(self, key: str) -> bool:
        """Whether the key is recorded."""
        psycopg = driver()
        try:
            with self._opened(15.0) as connection:
                table = connection.execute("select to_regclass('referee_migration')").fetchone()
                if table is None or table[0] is None:
                    return False
                # Whoever may still be committing holds the lock.
                connection.execute("select pg_advisory_xact_lock(hashtext('referee_migration'))")
                row = connection.execute("select 1 from referee_migration where key = %s", (key,)).fetchone()
                return row is not None
        except psycopg.Error as error:
            raise Unsure(f"the database cannot be asked: {words(error)}") from error

    def _opened(self, seconds: float) -> Any:
        limit = max(1, int(min(60.0, seconds)))
        options = f"-c statement_timeout={limit * 1000}"
        return driver().connect(self._address, connect_timeout=min(15, limit), options=options)
