"""What the repository's history says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from referee.kernel.action import Action, Effect
from referee.ports import World


class ReadRecent(Action[Mapping[str, tuple[int, ...]]]):
    """The lines of a tree that the last commits have changed; recorded, because HEAD may move."""

    name: ClassVar[str] = "recent"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[Any] = dict[str, tuple[int, ...]]

    tree: str
    commits: int

    def perform(self, world: World) -> Mapping[str, tuple[int, ...]]:
        """Nothing if the history is shorter."""
        return world.workspace.recent(self.tree, self.commits)
