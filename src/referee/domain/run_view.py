"""A run as somebody sees it who looks from outside, while it goes on or later."""

from __future__ import annotations

from referee.domain.cost import Budget, BudgetView, Cost
from referee.domain.finding import Finding
from referee.domain.report import IsolationStamp, Iteration, Landed, RunSummary, TokenUse
from referee.domain.value import Value


class Change(Value):
    """Two trees whose difference is the change that a step was judged with."""

    before: str
    after: str


class RunView(Value):
    """One run. `now` is what it is at; `stopping` that a person asked it to stop and it has not yet.

    `entries` is the number of the last journal entry. `diff` is what landed or would have; of a run that goes on, the
    last proposal. What only a report knows is empty until there is one.
    """

    summary: RunSummary
    targets: tuple[str, ...] = ()
    budget: Budget = Budget()
    spent: Cost = Cost()
    rounds: tuple[Iteration, ...] = ()
    findings: tuple[Finding, ...] = ()
    feedback: str = ""
    diff: str = ""
    notes: tuple[str, ...] = ()
    now: str = ""
    stopping: bool = False
    entries: int = 0
    explanation: str = ""
    analysis: str = ""
    alternatives: tuple[str, ...] = ()
    landed: Landed | None = None
    isolation: IsolationStamp | None = None
    usage: TokenUse = TokenUse()
    generator: str = ""

    @property
    def pressure(self) -> float:
        """The worst axis of the budget, 0 to 1."""
        return BudgetView(budget=self.budget, spent=self.spent).pressure
