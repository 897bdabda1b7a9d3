"""What is in a tree, kept in memory: asked for in every round, and nearly the same after a small patch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from referee.adapters.git.entry import EXECUTABLE, FILE
from referee.adapters.git.names import decode, encode
from referee.domain.patch import Patch


class Listed:
    """Every path of a tree with its kind (git's mode)."""

    def __init__(self, files: Mapping[bytes, str]) -> None:
        self.files = files

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The paths as text, sorted."""
        return tuple(sorted(map(decode, self.files)))

    def patched(self, patch: Patch) -> Listed:
        """The listing after `patch`; this very one if the patch only changes contents."""
        files = dict(self.files)
        for change in patch.changes:
            path = encode(change.path)
            if change.after is None:
                files.pop(path, None)
            else:
                files[path] = EXECUTABLE if change.after.executable else FILE
        return self if files == self.files else Listed(files)
