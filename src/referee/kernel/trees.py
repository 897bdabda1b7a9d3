"""Reading content-addressed trees: always the same answer, so it needs no gate and is not journaled."""

from __future__ import annotations

from referee.domain.patch import FileContent, Patch, patch_of
from referee.ports import Equipment


class Trees:
    """What a run reads of trees."""

    def __init__(self, world: Equipment) -> None:
        self._world = world

    @property
    def root(self) -> str:
        """The repository's real path."""
        return self._world.workspace.root

    def read(self, tree: str, path: str) -> bytes | None:
        """A file of a content-addressed tree: always the same answer, so it is not journaled."""
        return self._world.workspace.read(tree, path)

    def executable(self, tree: str, path: str) -> bool:
        """Whether a file of a tree is executable; not journaled for the same reason."""
        return self._world.workspace.executable(tree, path)

    def paths(self, tree: str) -> tuple[str, ...]:
        """All paths of a content-addressed tree."""
        return self._world.workspace.paths(tree)

    def diff(self, before: str, after: str) -> bytes:
        """A patch between two content-addressed trees that `git apply` takes."""
        return self._world.workspace.diff(before, after)

    def changed(self, before: str, after: str) -> tuple[str, ...]:
        """The paths in which two content-addressed trees or commits differ."""
        return self._world.workspace.changed(before, after)

    def between(self, before: str, after: str) -> Patch:
        """The patch that makes one content-addressed tree of another."""

        def content(path: str) -> FileContent | None:
            data = self.read(after, path)
            return None if data is None else FileContent(data=data, executable=self.executable(after, path))

        return patch_of({path: content(path) for path in self.changed(before, after)})
