"""A connection to PostgreSQL that is made when it is first needed, and anew after it broke."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from referee.domain.errors import UsageError, WorldFault

_PATIENCE = 15  # seconds to wait for a connection


def driver() -> Any:
    """The library. Raises `UsageError` if it is not installed."""
    try:
        import psycopg
    except ImportError:
        raise UsageError("PostgreSQL needs its driver; install referee[postgres]") from None
    return psycopg


def words(error: Exception) -> str:
    """What the server said, in one line."""
    return " ".join(str(error).split())[:300]


class Link:
    """One connection for one process; each statement is a transaction unless `transaction` is open."""

    def __init__(self, address: str, what: str) -> None:
        """`what` is named in faults, such as "the journal"."""
        self._address, self._what = address, what
        self._driver = driver()
        self._lock = threading.RLock()
        self._connection: Any = None

    @contextmanager
    def open(self) -> Iterator[Any]:
        """The connection, for one thread at a time. Raises `WorldFault` for whatever the server refuses."""
        with self._lock:
            try:
                yield self._connected()
            except self._driver.Error as error:
                self._drop_broken()
                raise WorldFault(
                    f"{self._what} in PostgreSQL could not be used: {words(error)}; check the server and its disk"
                ) from error

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """The same, all or nothing."""
        with self.open() as connection, connection.transaction():
            yield connection

    def close(self) -> None:
        """Close the connection, if there is one."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()

    def _connected(self) -> Any:
        if self._connection is None or self._connection.closed:
            try:
                self._connection = self._driver.connect(self._address, autocommit=True, connect_timeout=_PATIENCE)
            except self._driver.ProgrammingError:
                # Its message repeats the address, and with it the password.
                raise UsageError("REFEREE_DATABASE is no address of a PostgreSQL database") from None
        return self._connection

    def _drop_broken(self) -> None:
        connection = self._connection
        if connection is not None and (connection.closed or connection.broken):
            with suppress(self._driver.Error):
                connection.close()
            self._connection = None
