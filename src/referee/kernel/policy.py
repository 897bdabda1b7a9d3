"""Rulings on actions, made before they happen. One policy serves both flows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from referee.domain.errors import Rejected
from referee.domain.finding import Finding
from referee.domain.question import Asking, Demand
from referee.domain.value import Value
from referee.kernel.action import Action

WEEK = 7 * 86_400.0


class Allow(Value):
    """The action may happen."""


class Deny(Value):
    """The action may not happen; the findings say what was asked, which rule forbids it, and what is allowed."""

    findings: tuple[Finding, ...]


class Ask(Value):
    """The action may happen if a person says so.

    `summary` is one line, `shown` everything that the person needs to decide: for a signature it must say exactly
    what is done. `seconds` is how long the answer may take and, unless only words are asked for, how long it counts.
    """

    kind: Asking
    summary: str
    shown: str
    requester: str = ""
    tree: str = ""
    options: tuple[str, ...] = ()
    demand: Demand = Demand()
    seconds: float = WEEK


Ruling = Allow | Ask | Deny
Policy = Callable[[Action[Any]], Ruling | None]
STRICTER = [Asking.QUESTION, Asking.APPROVAL, Asking.SIGNATURE]


def rule(policies: Sequence[Policy], action: Action[Any]) -> Ask | Deny | None:
    """What stands in the way of the action: one denial is enough, and of several questions the strictest counts.

    A policy that returns None abstains. If a person is to be asked, each policy's demand is met.
    """
    asked: Ask | None = None
    for policy in policies:
        ruling = policy(action)
        if isinstance(ruling, Deny):
            return ruling
        if isinstance(ruling, Ask):
            asked = ruling if asked is None else _stricter(asked, ruling)
    return asked


def denied(ruling: Ask | Deny | None) -> None:
    """Raise `Rejected` for a denial."""
    if isinstance(ruling, Deny):
        raise Rejected(ruling.findings)


def _stricter(one: Ask, other: Ask) -> Ask:
    first, second = (one, other) if STRICTER.index(one.kind) >= STRICTER.index(other.kind) else (other, one)
    demand = Demand(ssh=one.demand.ssh or other.demand.ssh, persons=max(one.demand.persons, other.demand.persons))
    return first.model_copy(update={"demand": demand, "seconds": min(first.seconds, second.seconds)})
