"""A copy of the journal as JSON lines, to read and grep. SQLite is the truth; this file is never read back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from referee.domain.errors import WorldFault


class Mirror:
    """Appends one line per entry, with one write if the disk takes it; a torn last line is ended first (case I3)."""

    def __init__(self, path: str) -> None:
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            size = os.fstat(self._fd).st_size
            if size and os.pread(self._fd, 1, size - 1) != b"\n":
                os.write(self._fd, b"\n")
        except OSError as error:
            raise WorldFault(f"{path} cannot be written: {error}") from error

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a line."""
        line = json.dumps(record, ensure_ascii=True).encode() + b"\n"
        try:
            view = memoryview(line)
            while view:  # a nearly full disk may take a part first
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            raise WorldFault(f"the journal's mirror could not be written: {error}") from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)
