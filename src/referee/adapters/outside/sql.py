"""A migration of a database: all of it in one transaction, together with the record that it was applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Protocol
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from referee.adapters.outside.form import NAMED, formed, resolved
from referee.adapters.outside.sql_faults import Refused, Unsure
from referee.adapters.outside.sql_postgres import Postgres
from referee.adapters.outside.sql_sqlite import Sqlite
from referee.domain.errors import UsageError
from referee.domain.outside import Described, Receipt
from referee.domain.risk import Risk
from referee.domain.value import Value


def _database(text: str) -> str:
    if text.startswith(NAMED) or (text.startswith("sqlite:/") and text.isprintable()):
        return text
    if text.startswith(("postgresql://", "postgres://")):
        if urlsplit(text).password or "password=" in text:
            raise ValueError("an address here holds no password; name the variable that holds the address: env:NAME")
        return text
    raise ValueError("give sqlite:/FILE, postgresql://… without a password, or env:NAME")


class Migration(Value):
    """`up` changes the database, `down` takes that back, as far as it can."""

    database: Annotated[str, AfterValidator(_database)]
    up: Annotated[str, Field(min_length=1)]
    down: Annotated[str, Field(min_length=1)]
    name: str = "migration"


class Ledger(Protocol):
    """A database that keeps, in the table `referee_migration`, what was applied to it."""

    def apply(self, script: str, key: str, seconds: float) -> None:
        """Run the script and record the key, both or neither. Raises `Refused` (no effect) or `Unsure`."""
        ...

    def applied(self, key: str) -> bool:
        """Whether the key is recorded. Raises `Unsure` if the database does not say."""
        ...


class SqlTool:
    """SQLite and PostgreSQL."""

    def __init__(self, secret: Callable[[str], str | None]) -> None:
        self._secret = secret

    def describe(self, arguments: Mapping[str, Any]) -> Described:
        """Both scripts."""
        asked = formed(Migration, arguments, "sql")
        lines = len(asked.up.strip().splitlines())
        return Described(
            risk=Risk.IRREVERSIBLE,
            summary=f"migrate {asked.database}: {asked.name}, {lines} lines of SQL",
            detail=f"Database: {asked.database}\n\n-- up, in one transaction\n{asked.up.strip()}\n\n"
            f"-- down\n{asked.down.strip()}",
            impact="changes the database for everybody who uses it; all of it or nothing. The down script cannot bring "
            "back data that the up script deletes",
            host=urlsplit(asked.database).hostname or "",
        )

    def call(self, arguments: Mapping[str, Any], key: str, seconds: float, *, signed: bool) -> Receipt:
        """Apply it; if it was applied already, that is what it says."""
        asked = formed(Migration, arguments, "sql")
        ledger = self._ledger(asked)
        try:
            ledger.apply(asked.up, key, seconds)
        except Refused as refused:
            return Receipt(status="failed", said=str(refused))
        except Unsure as unsure:
            return self.look(arguments, key) or Receipt(status="failed", said=str(unsure))
        return _done(asked, key)

    def look(self, arguments: Mapping[str, Any], key: str) -> Receipt | None:
        """The database knows: what it recorded was applied, and what it did not record was not."""
        asked = formed(Migration, arguments, "sql")
        try:
            return _done(asked, key) if self._ledger(asked).applied(key) else None
        except Unsure as unsure:
            check = f"in {asked.database} whether the table referee_migration has the key {key}"
            return Receipt(status="unknown", said=str(unsure), check=check)

    def _ledger(self, asked: Migration) -> Ledger:
        place = resolved(asked.database, self._secret)
        if place.startswith("sqlite:/"):
            return Sqlite(place.removeprefix("sqlite:"))
        if place.startswith(("postgresql://", "postgres://")):
            return Postgres(place)
        raise UsageError(f"what {asked.database} holds is no address; use sqlite:/FILE or postgresql://…")


def _done(asked: Migration, key: str) -> Receipt:
    return Receipt(status="done", said=f"{asked.name} is applied to {asked.database}", facts={"key": key})
