"""Steps and where the budget stands."""

from __future__ import annotations

from typing import ClassVar

from referee.domain.cost import BudgetView, Cost
from referee.domain.value import Value
from referee.kernel.action import Action, Effect
from referee.ports import World


class ChargeStep(Action[None]):
    """Pay for one step; refused when none is left."""

    name: ClassVar[str] = "charge_step"
    effect: ClassVar[Effect] = Effect.READ
    instant: ClassVar[bool] = True
    result_type: ClassVar[type[None]] = type(None)

    author: str

    def estimate(self, world: World) -> Cost:
        """One step."""
        return Cost(steps=1)

    def cost(self, result: None) -> Cost:
        """One step."""
        return Cost(steps=1)

    def perform(self, world: World) -> None:
        """Nothing but the charge."""


class Gauge(Action[BudgetView]):
    """Read the budget once, into the journal, so that a replay decides on the same numbers.

    A reading that led to a refusal is not recalled when the run is resumed with a larger budget.
    """

    name: ClassVar[str] = "gauge"
    effect: ClassVar[Effect] = Effect.READ
    instant: ClassVar[bool] = True
    result_type: ClassVar[type] = BudgetView

    view: BudgetView

    @property
    def digest(self) -> str:
        """The numbers are the result, not the request: they differ when a run is resumed."""
        return "gauge"

    def perform(self, world: World) -> BudgetView:
        """The numbers as they are now."""
        return self.view

    def stale(self, result: BudgetView, view: BudgetView) -> bool:
        """A refusal under a smaller budget does not bind a larger one."""
        refused = result.refusal(Cost(steps=1)) is not None
        return refused and view.budget != result.budget and view.refusal(Cost(steps=1)) is None


class Raced(Value):
    """Which of several candidates, by number from 1, were judged to their end; `winner` passed first, 0 for none."""

    finished: tuple[int, ...] = ()
    winner: int = 0


class Elect(Action[Raced]):
    """Enter into the journal which candidate was first, so that a replay elects the same."""

    name: ClassVar[str] = "elect"
    effect: ClassVar[Effect] = Effect.READ
    instant: ClassVar[bool] = True
    result_type: ClassVar[type] = Raced

    raced: Raced = Raced()

    @property
    def digest(self) -> str:
        """Who was first is the result, not the request."""
        return "elect"

    def perform(self, world: World) -> Raced:
        """As it was seen."""
        return self.raced
