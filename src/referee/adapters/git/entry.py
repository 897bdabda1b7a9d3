"""What stands at a path: git's kind and object name of a file, whether it is in a tree or on disk."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

FILE = "100644"
EXECUTABLE = "100755"
SYMLINK = "120000"
REGULAR = (FILE, EXECUTABLE)
LARGEST = 64 << 20  # bytes of a file that a run may replace: the old content is kept to undo it


class Entry(NamedTuple):
    """A kind and what it holds. Kinds other than git's (`directory`, `special`, `blocked`) are never in a tree."""

    mode: str
    oid: str = ""

    @property
    def regular(self) -> bool:
        """Whether this is a regular file."""
        return self.mode in REGULAR


def object_name(algorithm: str, kind: str, data: bytes) -> str:
    """The name git gives to an object: the digest of its kind, size and bytes."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    digest.update(b"%s %d\0" % (kind.encode(), len(data)))
    digest.update(data)
    return digest.hexdigest()
