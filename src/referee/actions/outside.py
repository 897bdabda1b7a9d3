"""Requests to other systems: signed, sent once, and unknown where a crash makes them so (C5, I2)."""

from __future__ import annotations

from typing import ClassVar

from referee.domain.errors import WorldFault
from referee.domain.outside import Proposal, Receipt
from referee.domain.question import Asking, Consent, settled
from referee.domain.risk import Risk
from referee.kernel.action import Action, Effect
from referee.kernel.questions import objection_to
from referee.ports import World


class CallOutside(Action[Receipt]):
    """Send a proposal's request. What is signed is looked at once more here, and all but reading must be signed."""

    name: ClassVar[str] = "call_outside"
    effect: ClassVar[Effect] = Effect.OUTSIDE
    result_type: ClassVar[type] = Receipt

    proposal: Proposal
    tree: str = ""

    def perform(self, world: World) -> Receipt:
        """Whatever the other system says is a receipt. Raises `WorldFault` if nobody has signed exactly this."""
        request = self.proposal.request
        reads = world.outside(request.tool).describe(request.arguments).risk in (Risk.READ, Risk.EGRESS)
        if not reads or world.consent is not None:
            self._check(world)
        seconds, signed = max(0.1, world.seconds_left()), world.consent is not None
        return world.outside(request.tool).call(request.arguments, self.proposal.key, seconds, signed=signed)

    def recover(self, world: World) -> Receipt | None:
        """What an earlier try came to; where nobody can know, that is the end of it."""
        request = self.proposal.request
        return world.outside(request.tool).look(request.arguments, self.proposal.key)

    def _check(self, world: World) -> None:
        consent = world.consent
        why = "nobody was asked" if consent is None else _objection(consent, self.digest, world)
        if why:
            raise WorldFault(f"refused to send what is not signed: {why}")


def _objection(consent: Consent, digest: str, world: World) -> str:
    question, answers = consent.question, consent.answers
    if question.kind is not Asking.SIGNATURE or question.action_digest != digest:
        return "the question was about something else"
    if question.true_digest != question.digest:
        return "the question is not as it was asked"
    if question.expired(world.clock.now()):
        return "the signature has expired"
    for answer in answers:
        if why := objection_to(question, answer, world.signatures):
            return why
    return "" if settled(question, answers) else "it takes more signatures"
