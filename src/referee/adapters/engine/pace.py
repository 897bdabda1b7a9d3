"""A limit on calls to a provider that all workers of a database keep together."""

from __future__ import annotations

from referee.adapters.postgres import Link

# One row a provider: when its next call may begin. Whoever comes takes that time and moves it on, in one statement.
_RESERVE = """
insert into referee.pace values (%(provider)s, clock_timestamp() + make_interval(secs => %(step)s))
on conflict (provider) do update
set free_at = greatest(pace.free_at, clock_timestamp()) + make_interval(secs => %(step)s)
returning greatest(0, extract(epoch from free_at - clock_timestamp()) - %(step)s)::float8
"""


class Pace:
    """So many calls a minute to one provider, evenly. The server's clock counts."""

    def __init__(self, address: str, provider: str, per_minute: int) -> None:
        self._link, self._provider, self._step = Link(address, "the pace of calls"), provider, 60 / per_minute

    def reserve(self) -> float:
        """Take the next call's place; the seconds until it. Raises `WorldFault` if the database refuses."""
        with self._link.open() as db:
            row = db.execute(_RESERVE, {"provider": self._provider, "step": self._step}).fetchone()
        return float(row[0])

    def close(self) -> None:
        """Close the connection."""
        self._link.close()
