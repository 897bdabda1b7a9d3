"""What a run has spent, against its budget and that of its parents."""

from __future__ import annotations

import threading

from referee.domain.cost import Budget, BudgetView, Cost
from referee.domain.errors import Exhausted


class Ledger:
    """Spending on every axis but wall clock, which is a position rather than a sum.

    A child's spending counts against all its parents; a child may have a smaller budget, never a larger one.
    """

    def __init__(self, budget: Budget, parent: Ledger | None = None) -> None:
        self.budget = budget
        self._parent = parent
        self._spent = Cost()
        self._lock = threading.Lock()  # branches charge their parent from their own threads

    def view(self, seconds: float) -> BudgetView:
        """The budget and what is spent, with the run's clock at `seconds`."""
        return BudgetView(budget=self.budget, spent=self._spent.model_copy(update={"seconds": seconds}))

    def admit(self, wanted: Cost, seconds: float) -> None:
        """Raise `Exhausted` with the axis that cannot bear `wanted`, here or in a parent."""
        refused = self.view(seconds).refusal(wanted)
        if refused is not None:
            raise Exhausted(refused, f"not begun: {refused.value} ({_words(wanted)})")
        if self._parent is not None:
            self._parent.admit(wanted, seconds)

    def charge(self, cost: Cost) -> None:
        """Add what was spent, here and in every parent."""
        with self._lock:
            self._spent = self._spent + cost
        if self._parent is not None:
            self._parent.charge(cost)


def _words(wanted: Cost) -> str:
    parts = [f"{wanted.steps} steps"] if wanted.steps else []
    parts += [f"{wanted.tokens} tokens"] if wanted.tokens else []
    parts += [f"{wanted.usd} USD at worst"] if wanted.usd else []
    return "needs " + ", ".join(parts) if parts else "no time left"
