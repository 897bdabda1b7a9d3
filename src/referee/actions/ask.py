"""Asking a person something in words."""

from __future__ import annotations

from typing import ClassVar

from referee.domain.errors import Rejected
from referee.domain.finding import Finding, FindingKind
from referee.kernel.action import Action, Effect
from referee.ports import World


class AskPerson(Action[str]):
    """A question of an agent's; its result is the answer. A policy must put it to a person: see `ask_in_words`."""

    name: ClassVar[str] = "ask_person"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[type] = str

    question: str
    options: tuple[str, ...] = ()

    def perform(self, world: World) -> str:
        """What the person said. Raises `Rejected` if nobody was asked."""
        if world.consent is None:
            message = "nobody can be asked here; take the most likely meaning and say so in your answer"
            raise Rejected((Finding(kind=FindingKind.UNAUTHORISED, check="policy", rule="nobody", message=message),))
        return world.consent.text


class PlayWorkflow(Action[None]):
    """Let a workflow's file run: as the person and outside the sandbox, so a person must have said yes to its text."""

    name: ClassVar[str] = "play_workflow"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[type[None]] = type(None)

    path: str
    text: str
    arguments: str

    def perform(self, world: World) -> None:
        """Nothing but the consent. Raises `Rejected` if nobody was asked."""
        if world.consent is None:
            message = "a workflow runs outside the sandbox, and nobody can be asked about it here"
            raise Rejected((Finding(kind=FindingKind.UNAUTHORISED, check="policy", rule="nobody", message=message),))
