"""Public fakes for every port, and a store that loses power on request. No mocks."""

from referee.adapters.store import MemoryStore
from referee.testing.clock import FakeClock
from referee.testing.sandbox import FakeSandbox, ended
from referee.testing.shelf import MemoryShelf
from referee.testing.signing import FakeSignatures
from referee.testing.store import PowerLoss, PowerLossStore
from referee.testing.workspace import FakeWorkspace
from referee.testing.world import FakeEquipment

__all__ = [
    "FakeClock",
    "FakeEquipment",
    "FakeSandbox",
    "FakeSignatures",
    "FakeWorkspace",
    "MemoryShelf",
    "MemoryStore",
    "PowerLoss",
    "PowerLossStore",
    "ended",
]
