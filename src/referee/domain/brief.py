"""A brief: everything an author is told for one attempt. It is complete, so little is asked back."""

from __future__ import annotations

from enum import StrEnum

from referee.domain.finding import Finding
from referee.domain.patch import Patch
from referee.domain.proposal import PatchProposal
from referee.domain.task import Task
from referee.domain.value import Value


class Strategy(StrEnum):
    """How the next attempt should differ from the last."""

    FIRST = "first"
    REPAIR = "repair"  # mend what the last proposal left failing
    BACK = "back"  # the last proposal made it worse and was undone: mend what was failing before it
    RESTART = "restart"  # the last direction led nowhere: start again from the base


class Attempted(Value):
    """A past attempt in two lines: what it changed and why it failed."""

    touched: tuple[str, ...]
    root_cause: str
    outcome: str


class Brief(Value):
    """`base` is the tree the proposal must be made for; `feedback` is the compressed failure (D5).

    `checks` must pass beside the tests; `protected` are patterns beyond the built-in ones, `source` those that may
    change (empty: all others); `steps_left` counts the proposals that the budget still allows, this one among them.
    """

    task: Task
    base: str
    targets: tuple[str, ...]
    feedback: str
    findings: tuple[Finding, ...] = ()
    strategy: Strategy = Strategy.FIRST
    last: PatchProposal | None = None
    attempts: tuple[Attempted, ...] = ()
    pressed: bool = False  # budget pressure above 0.8 (A3)
    checks: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    steps_left: int | None = None


class Offer(Value):
    """An author's answer to a brief.

    `proposal` is None when nothing was found this time; `exhausted` then says that asking again is
    pointless, and `note` why. `judged` counts the candidates the author had judged for itself.
    `paid` says that the attempt's step was already charged while the author worked. `doubt` is the author's own reason
    to think that its proposal may only fit the tests; unless the user allows that, a person decides what becomes of it.
    `answer` is what an author says to the person at its end.
    An author that changes files itself gives a `patch` in place of a proposal; `undone` is what it did besides and may
    not.
    """

    author: str
    proposal: PatchProposal | None = None
    exhausted: bool = False
    note: str = ""
    judged: int = 0
    paid: bool = False
    patch: Patch | None = None
    undone: tuple[Finding, ...] = ()
    alternatives: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    doubt: str = ""
    answer: str = ""

    @property
    def proposed(self) -> bool:
        """Whether there is something to judge."""
        return self.proposal is not None or self.patch is not None
