"""Steps and where the budget stands."""

from __future__ import annotations

from typing import ClassVar

from referee.domain.cost import BudgetView, Cost
from referee.kernel.action import Action, Effect
from referee.ports import World


class ChargeStep(Action[None]):
    """Pay for one step; refused when none is left."""

    name: ClassVar[str] = "charge_step"
    effect: ClassVar[Effect] = Effect.READ
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
