"""Where journals live."""

from referee.adapters.store.sqlite import SqliteStore

__all__ = ["SqliteStore"]
