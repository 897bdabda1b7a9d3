"""Accepting what nothing can judge: only a person does."""

from __future__ import annotations

from typing import ClassVar

from referee.domain.errors import Rejected
from referee.domain.finding import Finding, FindingKind
from referee.kernel.action import Action, Effect, request_digest
from referee.ports import World


class AcceptUnjudged(Action[None]):
    """Take a change that no check has passed. With `later`, the landing itself is asked about."""

    name: ClassVar[str] = "accept_unjudged"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[type[None]] = type(None)

    before: str
    after: str
    later: bool = False

    @property
    def digest(self) -> str:
        """The same with and without `later`: what is demanded of people may change while the run waits for one."""
        return request_digest(self.name, {**self.model_dump(mode="json"), "later": False})

    def perform(self, world: World) -> None:
        """Raises `Rejected` if nobody was asked."""
        if world.consent is None and not self.later:
            message = "no check has passed it and nobody was asked"
            raise Rejected((Finding(kind=FindingKind.UNAUTHORISED, check="policy", rule="unjudged", message=message),))
