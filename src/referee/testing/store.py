"""A store that loses power."""

from __future__ import annotations

from referee.domain.errors import Interrupt
from referee.ports import Entry, Lease, Store


class PowerLoss(Interrupt):
    """The machine lost power: nothing after this line happened."""


class PowerLossStore:
    """A store that loses power at the n-th append: before it, or just after it was written (and synced, if durable).

    With `forgetful`, the power takes with it what was appended but not made durable, as a disk is free to do.
    """

    def __init__(self, inner: Store, *, at: int, after: bool, forgetful: bool = False) -> None:
        self._inner, self._at, self._after, self._forgetful = inner, at, after, forgetful
        self._unsynced: list[tuple[Lease, Entry]] = []
        self.appends = 0

    def append(self, lease: Lease, entry: Entry, *, durable: bool = True) -> None:
        """Append, unless the power fails."""
        self.appends += 1
        if self.appends > self._at or (self.appends == self._at and not self._after):
            raise PowerLoss(f"at append {self._at}")
        self._unsynced.append((lease, entry))
        if durable or not self._forgetful:
            self._sync()
        if self.appends == self._at:
            raise PowerLoss(f"at append {self._at}")

    def _sync(self) -> None:
        for lease, entry in self._unsynced:
            self._inner.append(lease, entry)
        self._unsynced.clear()

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)
