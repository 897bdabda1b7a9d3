"""The real clock."""

from __future__ import annotations

import time


class SystemClock:
    """Time from the operating system."""

    def monotonic(self) -> float:
        """Seconds on a clock that only goes forward."""
        return time.monotonic()

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
