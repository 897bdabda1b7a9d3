"""A store that loses power."""

from __future__ import annotations

from referee.domain.errors import Interrupt
from referee.ports import Entry, Lease, Store


class PowerLoss(Interrupt):
    """The machine lost power: nothing after this line happened."""


class PowerLossStore:
    """A store that loses power at the n-th append, before or just after it became durable."""

    def __init__(self, inner: Store, *, at: int, durable: bool) -> None:
        self._inner, self._at, self._durable, self.appends = inner, at, durable, 0

    def append(self, lease: Lease, entry: Entry) -> None:
        """Append, unless the power fails."""
        self.appends += 1
        if self.appends >= self._at:
            if self._durable and self.appends == self._at:
                self._inner.append(lease, entry)
            raise PowerLoss(f"at append {self._at}")
        self._inner.append(lease, entry)

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)
