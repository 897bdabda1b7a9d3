"""Where journals live."""

from referee.adapters.store.memory import MemoryStore
from referee.adapters.store.recorded import RecordedStore
from referee.adapters.store.shelf import FileShelf
from referee.adapters.store.sqlite import SqliteStore

__all__ = ["FileShelf", "MemoryStore", "RecordedStore", "SqliteStore"]
