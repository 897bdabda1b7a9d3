"""Public fakes for every port, and a store that loses power on request. No mocks."""

from referee.testing.clock import FakeClock
from referee.testing.store import MemoryStore, PowerLoss, PowerLossStore

__all__ = ["FakeClock", "MemoryStore", "PowerLoss", "PowerLossStore"]
