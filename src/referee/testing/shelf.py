"""A shelf in memory."""

from __future__ import annotations

from referee.adapters.store.shelf import DAY
from referee.ports import Clock


class MemoryShelf:
    """Keeps facts for a day by its clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._facts: dict[str, tuple[float, bytes]] = {}

    def get(self, key: str) -> bytes | None:
        """The fact, unless it is missing or older than a day."""
        when, data = self._facts.get(key, (0.0, None))
        return data if self._clock.now() - when <= DAY else None

    def put(self, key: str, data: bytes) -> None:
        """Keep a fact."""
        self._facts[key] = (self._clock.now(), data)
