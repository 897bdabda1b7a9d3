"""Undoing a run."""

from __future__ import annotations

from typing import ClassVar

from referee.kernel.action import Action, Effect
from referee.ports import Restoration, World


class RollBack(Action[Restoration]):
    """Put back what a run landed, wherever nobody has changed it since; with `merge`, also other lines."""

    name: ClassVar[str] = "rollback"
    effect: ClassVar[Effect] = Effect.LAND
    result_type: ClassVar[type] = Restoration

    run_id: str
    merge: bool = False

    def perform(self, world: World) -> Restoration:
        """What stays as it is and what could not be written is in the result. Repeating it does no harm."""
        return world.workspace.rollback(self.run_id, merge=self.merge)
