"""A run's record to be replayed: what is appended to it stays in memory."""

from __future__ import annotations

from referee.adapters.store.memory import MemoryStore
from referee.ports import RunRecord, Store


class RecordedStore(MemoryStore):
    """A copy of one run of `store`; blobs are read from there."""

    def __init__(self, store: Store, record: RunRecord) -> None:
        super().__init__(store.redaction)
        self._store = store
        self.create(record.run_id, record.spec, record.created)
        self._entries[record.run_id] = list(store.entries(record.run_id))

    def get(self, digest: str) -> bytes:
        """Read a blob."""
        return self._blobs[digest] if digest in self._blobs else self._store.get(digest)
