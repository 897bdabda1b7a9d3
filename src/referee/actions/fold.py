"""A conversation was made shorter: what went is kept with the record."""

from __future__ import annotations

from typing import ClassVar

from referee.kernel.action import Action, Effect
from referee.ports import World


class Fold(Action[None]):
    """Enter a fold into the journal. `away` is the blob of the messages as they were before; sizes are in tokens."""

    name: ClassVar[str] = "fold"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[type[None]] = type(None)

    away: str
    before: int
    after: int

    def perform(self, world: World) -> None:
        """Nothing but the entry: folding itself touches nothing and costs nothing."""
