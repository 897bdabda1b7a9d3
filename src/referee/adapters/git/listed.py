"""What is in a tree, kept in memory: asked for in every round, and nearly the same after a small patch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from referee.adapters.git.entry import EXECUTABLE, FILE
from referee.adapters.git.names import decode, encode
from referee.domain.patch import FileContent, Patch


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
        kinds = {encode(c.path): _kind(c.after) for c in patch.changes}
        if all(self.files.get(path) == kind for path, kind in kinds.items()):
            return self
        files = {**self.files, **kinds}
        return Listed({path: kind for path, kind in files.items() if kind is not None})


def _kind(content: FileContent | None) -> str | None:
    if content is None:
        return None
    return EXECUTABLE if content.executable else FILE
