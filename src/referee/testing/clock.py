"""A clock that moves only when told."""

from __future__ import annotations


class FakeClock:
    """Starts at `start` seconds; `sleep` and `advance` move it."""

    def __init__(self, start: float = 1_000.0) -> None:
        self._at = start

    def monotonic(self) -> float:
        """The time it was moved to."""
        return self._at

    def now(self) -> float:
        """The same."""
        return self._at

    def sleep(self, seconds: float) -> None:
        """Move on without waiting."""
        self._at += seconds

    advance = sleep
