"""Keeping a run's lease while it is at work."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from referee.domain.errors import WorldFault

BEAT_SECONDS = 10.0


class Keeper:
    """Renews while anything is under way. One thread serves all actions: one for each would cost more than most do."""

    def __init__(self, renew: Callable[[], None], lasts: float = 3 * BEAT_SECONDS) -> None:
        """`lasts` is how many seconds a lease does."""
        self._renew, self._pause = renew, min(BEAT_SECONDS, lasts / 3)
        self._lock = threading.Lock()
        self._under_way, self._idle, self._beating = 0, True, False

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """The lease lasts as long as this is open, so that nobody takes a living run over."""
        with self._lock:
            self._under_way, self._idle = self._under_way + 1, False
            if not self._beating:
                self._beating = True
                threading.Thread(target=self._beat, name="lease", daemon=True).start()
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1

    def _beat(self) -> None:
        """Until nothing has happened between two beats, or the run was taken over: the next append says so, in the
        thread that can act on it."""
        pause = threading.Event()
        while self._goes_on():
            pause.wait(self._pause)
            try:
                if self._under_way:
                    self._renew()
            except WorldFault:
                self._beating = False
                return

    def _goes_on(self) -> bool:
        with self._lock:
            self._beating, self._idle = self._under_way > 0 or not self._idle, True
            return self._beating
