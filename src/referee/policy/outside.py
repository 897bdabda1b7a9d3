"""What reaches another system is signed first; reading from a listed domain is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.actions.outside import CallOutside
from referee.domain.outside import Described, Proposal, Request
from referee.domain.question import Asking, Demand
from referee.domain.risk import Risk
from referee.domain.value import Value
from referee.kernel.action import Action
from referee.kernel.policy import Ask, Policy, Ruling
from referee.ports import OutsideTool


class Outgoing(Value):
    """How a person is asked: what counts as a signature, for how many seconds; `domains` need none to be read.

    For what a model proposes there are domains only if its preset lets it reach them without being asked.
    """

    demand: Demand = Demand()
    seconds: float = 86_400.0
    domains: tuple[str, ...] = ()


def sign_outside(outgoing: Outgoing, find: Callable[[str], OutsideTool]) -> Policy:
    """Ask for a signature on everything but reading from a listed domain. `find` knows the registered tools."""

    def ruling(action: Action[Any]) -> Ruling | None:
        if not isinstance(action, CallOutside):
            return None
        proposal = action.proposal
        described = find(proposal.request.tool).describe(proposal.request.arguments)
        if described.risk is Risk.EGRESS and described.host in outgoing.domains:
            return None
        return _ask(action, described, outgoing, find)

    return ruling


def _ask(action: CallOutside, described: Described, outgoing: Outgoing, find: Callable[[str], OutsideTool]) -> Ask:
    return Ask(
        kind=Asking.SIGNATURE,
        summary=described.summary,
        shown=shown(action.proposal, described, _undo(action.proposal.undo, find)),
        requester=action.proposal.requester,
        tree=action.tree,
        demand=outgoing.demand,
        seconds=outgoing.seconds,
    )


def _undo(undo: Request | None, find: Callable[[str], OutsideTool]) -> Described | None:
    return None if undo is None else find(undo.tool).describe(undo.arguments)


def shown(proposal: Proposal, described: Described, undo: Described | None) -> str:
    """Everything that is sent, what it does, and what would take it back."""
    back = "nothing is registered that takes it back" if undo is None else f"to be signed in its turn:\n\n{undo.detail}"
    return (
        f"{described.summary}\n\nImpact: {described.impact}\nIdempotency key: {proposal.key}\n\n"
        f"{described.detail}\n\nTo take it back: {back}\n"
    )
