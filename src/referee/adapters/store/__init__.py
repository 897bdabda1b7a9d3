"""Where journals live."""

from referee.adapters.store.memory import MemoryStore
from referee.adapters.store.sqlite import SqliteStore

__all__ = ["MemoryStore", "SqliteStore"]
