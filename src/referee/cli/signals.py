"""Ctrl-C and SIGTERM become `Cancelled` in the main thread, once; impatience cannot corrupt anything."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from referee.domain.errors import Cancelled

_CALM = b"\nStopping, so that nothing of yours is left half written. Press Ctrl-C again to leave at once.\n"
_LEAVING = b"Left at once; the next command in this repository finishes putting it in order.\n"


class Cancellation:
    """Counts the signals: the first cancels, the second explains, the third leaves without cleaning up.

    Leaving at once is safe because everything that writes the user's files survives a kill.
    """

    def __init__(self) -> None:
        self._seen = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """The handler."""
        self._seen += 1
        if self._seen == 1:
            raise Cancelled("stopped by a person")
        os.write(2, _CALM if self._seen == 2 else _LEAVING)
        if self._seen > 2:
            os._exit(130)


@contextmanager
def cancellable() -> Iterator[None]:
    """While this is open, SIGINT and SIGTERM raise `Cancelled`; afterwards the handlers are as before."""
    cancellation = Cancellation()
    before = {s: signal.signal(s, cancellation) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
