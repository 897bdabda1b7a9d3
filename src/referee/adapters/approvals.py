"""A person's approvals in one JSON file of their own, by repository, kind and name."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from referee.adapters.store.blobs import write_whole
from referee.domain.errors import UsageError, WorldFault

Entries = dict[str, dict[str, dict[str, dict[str, str]]]]  # scope, kind, name -> digest and by


class FileApprovals:
    """Approvals for `scope`: a repository's real path, or empty for what is the person's own."""

    def __init__(self, path: str, scope: str) -> None:
        self._path, self._scope = path, scope

    def digest(self, kind: str, name: str) -> str | None:
        """The SHA-256 of what was approved under that name."""
        return self._of(kind).get(name, {}).get("digest")

    def by(self, kind: str, name: str) -> str:
        """Who approved it."""
        return self._of(kind).get(name, {}).get("by", "")

    def names(self, kind: str) -> tuple[str, ...]:
        """All approved names of a kind, sorted."""
        return tuple(sorted(self._of(kind)))

    def approve(self, kind: str, name: str, digest: str, by: str = "person") -> None:
        """Approve exactly `digest`, in place of what was approved before. Raises `WorldFault` if it cannot be kept."""
        with self._changing() as entries:
            entries.setdefault(self._scope, {}).setdefault(kind, {})[name] = {"digest": digest, "by": by}

    def revoke(self, kind: str, name: str) -> bool:
        """Take an approval back."""
        with self._changing() as entries:
            return entries.get(self._scope, {}).get(kind, {}).pop(name, None) is not None

    def _of(self, kind: str) -> dict[str, dict[str, str]]:
        return self._read().get(self._scope, {}).get(kind, {})

    def _read(self) -> Entries:
        try:
            with open(self._path, encoding="utf-8") as file:
                found: Any = json.load(file)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise WorldFault(f"{self._path} cannot be read: {error}") from error
        except ValueError:
            raise UsageError(f"{self._path} is damaged; delete it, and approve again what you trust") from None
        if not isinstance(found, dict):
            raise UsageError(f"{self._path} is damaged; delete it, and approve again what you trust")
        return found

    @contextmanager
    def _changing(self) -> Iterator[Entries]:
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            # Runs in other repositories approve in the same file.
            with open(f"{self._path}.lock", "w", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                entries = self._read()
                yield entries
                write_whole(self._path, json.dumps(entries, indent=1, sort_keys=True).encode())
        except OSError as error:
            raise WorldFault(f"{self._path} could not be written: {error}") from error
