"""What a run has spent, against its budget and that of its parents."""

from __future__ import annotations

import threading

from referee.domain.cost import Budget, BudgetView, Cost
from referee.domain.errors import Exhausted


class Ledger:
    """Spending on every axis but wall clock, which is a position rather than a sum.

    A child's spending counts against all its parents; a child may have a smaller budget, never a larger one. What an
    action may cost is held back from admission to its end, so that branches on other threads cannot spend it too.
    """

    def __init__(self, budget: Budget, parent: Ledger | None = None) -> None:
        self.budget = budget
        self._parent = parent
        self._spent = self._held = Cost()
        self._lock = threading.Lock()

    @property
    def spent(self) -> Cost:
        """What is charged here so far."""
        return self._spent

    def view(self, seconds: float) -> BudgetView:
        """The budget and what is spent, with the run's clock at `seconds`."""
        return BudgetView(budget=self.budget, spent=self._spent.model_copy(update={"seconds": seconds}))

    def seconds_left(self, seconds: float) -> float:
        """What is left of the wall clock, here and in every parent."""
        left = self.view(seconds).seconds_left
        return left if self._parent is None else min(left, self._parent.seconds_left(seconds))

    def hold(self, wanted: Cost, seconds: float) -> None:
        """Set `wanted` aside. Raises `Exhausted` with the axis that cannot bear it, here or in a parent."""
        with self._lock:
            spent = (self._spent + self._held).model_copy(update={"seconds": seconds})
            refused = BudgetView(budget=self.budget, spent=spent).refusal(wanted)
            if refused is not None:
                raise Exhausted(refused, f"not begun: {refused.value} ({_words(wanted)})")
            if self._parent is not None:
                self._parent.hold(wanted, seconds)
            self._held = self._held + wanted

    def release(self, wanted: Cost) -> None:
        """What was held is spent or not needed; call it after `charge`."""
        with self._lock:
            self._held = self._held - wanted
        if self._parent is not None:
            self._parent.release(wanted)

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
