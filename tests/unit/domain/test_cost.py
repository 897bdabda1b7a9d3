"""Budgets: four axes, each a hard stop on its own."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from referee.domain.cost import Budget, BudgetView, Cost

costs = st.builds(
    Cost,
    steps=st.integers(0, 20),
    seconds=st.floats(0, 500),
    tokens=st.integers(0, 500_000),
    usd=st.decimals(0, 1, places=4),
    tool_seconds=st.floats(0, 500),
)


@given(costs, costs)
def test_costs_add_up_on_every_axis(a: Cost, b: Cost) -> None:
    total = a + b
    assert total == b + a
    assert (total.steps, total.tokens, total.usd) == (a.steps + b.steps, a.tokens + b.tokens, a.usd + b.usd)
    assert a + Cost() == a


@given(costs)
def test_pressure_is_a_share_and_full_when_an_axis_is_used_up(spent: Cost) -> None:
    view = BudgetView(budget=Budget(), spent=spent)
    assert 0 <= view.pressure <= 1
    if view.refusal(Cost()) is not None:
        assert view.pressure == 1


@given(costs, costs)
def test_what_was_refused_stays_refused_when_more_is_spent(spent: Cost, wanted: Cost) -> None:
    before = BudgetView(budget=Budget(), spent=spent)
    if before.refusal(wanted) is not None:
        assert BudgetView(budget=Budget(), spent=spent + wanted).refusal(wanted) is not None


def test_an_axis_limited_to_nothing_does_not_press_but_refuses() -> None:
    free = BudgetView(budget=Budget(max_tokens=0, max_cost_usd=Decimal(0)), spent=Cost())
    assert free.pressure == 0
    assert free.refusal(Cost(tokens=1)) is not None
    assert free.refusal(Cost(usd=Decimal("0.0001"))) is not None
    assert free.refusal(Cost(steps=1)) is None


def test_tool_seconds_are_apart_from_the_four_axes() -> None:
    assert BudgetView(budget=Budget(), spent=Cost(tool_seconds=1e9)).refusal(Cost()) is None
