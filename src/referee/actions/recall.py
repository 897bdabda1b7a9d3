"""What is known about a tree from earlier runs."""

from __future__ import annotations

from typing import ClassVar

from referee.domain.value import Value
from referee.kernel.action import Action, Effect
from referee.ports import World


class Fact(Value):
    """A fact as text; None if nothing is known."""

    text: str | None


class Recall(Action[Fact]):
    """Ask for what an earlier run found out under this key."""

    name: ClassVar[str] = "recall"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[type] = Fact

    key: str

    def perform(self, world: World) -> Fact:
        """What cannot be read is not known."""
        found = world.shelf.get(self.key)
        return Fact(text=None if found is None else found.decode("utf-8", "replace"))


class Remember(Action[Fact]):
    """Keep a fact for later runs."""

    name: ClassVar[str] = "remember"
    effect: ClassVar[Effect] = Effect.WRITE
    result_type: ClassVar[type] = Fact

    key: str
    text: str

    def perform(self, world: World) -> Fact:
        """Raises `WorldFault` if the disk refuses."""
        world.shelf.put(self.key, self.text.encode("utf-8", "backslashreplace"))
        return Fact(text=None)
