"""decide() is pure: every state of a run is enumerable (A1)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.domain.cost import Budget, BudgetView, Cost
from referee.domain.decision import Hold, Land, Repair, Stop, Switch, decide
from referee.domain.finding import Finding, FindingKind
from referee.domain.layer import Layer
from referee.domain.reason import StopReason
from referee.domain.verdict import Verdict

PLENTY = BudgetView(budget=Budget(), spent=Cost(steps=1))


def failed(mark: str = "f", patch: str = "p", **more: object) -> Verdict:
    finding = Finding(check="pytest", message="no")
    return Verdict(
        author="a",
        proposed=True,
        passed=False,
        fingerprint=mark,
        patch_digest=patch,
        findings=(finding,),
        **more,  # type: ignore[arg-type]
    )


PASSED = Verdict(author="a", proposed=True, passed=True)
EMPTY = Verdict(author="a", proposed=False, passed=False)


def spent(**axes: object) -> BudgetView:
    return BudgetView(budget=Budget(), spent=Cost(**axes))  # type: ignore[arg-type]


def test_what_passed_lands_even_if_it_used_the_last_of_the_budget() -> None:
    assert decide([PASSED], spent(steps=8, seconds=500.0)) == Land()


def test_what_its_own_author_doubts_is_held_unless_that_may_land() -> None:
    doubted = PASSED.model_copy(update={"doubt": "two places do as well"})
    assert decide([doubted], PLENTY) == Hold(doubt="two places do as well")
    assert decide([doubted], PLENTY, doubtful=True) == Land()


def test_a_first_failure_is_repaired() -> None:
    assert isinstance(decide([failed()], PLENTY), Repair)


@pytest.mark.parametrize(
    ("axes", "reason"),
    [
        ({"steps": 8}, StopReason.STEPS_EXHAUSTED),
        ({"seconds": 240.0}, StopReason.TIMEOUT),
        ({"tokens": 400_001}, StopReason.TOKEN_EXHAUSTED),
        ({"usd": Decimal("0.51")}, StopReason.COST_TRIPPED),
    ],
)
def test_each_axis_stops_on_its_own(axes: dict[str, object], reason: StopReason) -> None:
    decision = decide([failed()], spent(**axes))
    assert isinstance(decision, Stop)
    assert decision.reason is reason


@pytest.mark.parametrize("steps", [6, 7, 8])
def test_the_step_limit_is_exact(steps: int) -> None:
    """Case C22: off by one. Seven of eight steps leave room for one more; eight do not."""
    assert isinstance(decide([failed()], spent(steps=steps)), Stop if steps == 8 else Repair)


def test_the_same_failure_twice_in_a_row_stops() -> None:
    decision = decide([failed("x", "p1"), failed("x", "p2")], PLENTY)
    assert isinstance(decision, Stop)
    assert decision.reason is StopReason.NON_PROGRESS


def test_a_changed_failure_goes_on_but_an_old_patch_again_does_not() -> None:
    assert isinstance(decide([failed("x", "p1"), failed("y", "p2")], PLENTY), Repair)
    oscillating = [failed("x", "p1"), failed("y", "p2"), failed("z", "p1")]
    assert decide(oscillating, PLENTY) == Stop(
        reason=StopReason.NON_PROGRESS, note="a proposal that had failed before came again"
    )


def test_refusals_for_different_reasons_are_not_the_same_proposal() -> None:
    """A refused proposal never becomes a patch, so it has no digest."""
    assert isinstance(decide([failed("x", ""), failed("y", "")], PLENTY), Repair)


def test_batches_without_a_proposal_are_not_a_lack_of_progress() -> None:
    assert isinstance(decide([EMPTY, EMPTY, EMPTY], PLENTY), Repair)


def test_an_author_with_nothing_more_is_switched() -> None:
    assert decide([EMPTY.model_copy(update={"exhausted": True, "note": "all tried"})], PLENTY) == Switch(
        note="all tried"
    )


def test_a_fixer_that_repeats_the_generators_failure_makes_no_progress() -> None:
    fixer = failed("x", "q").model_copy(update={"author": "b"})
    assert isinstance(decide([failed("x"), fixer], PLENTY), Stop)


def test_a_regression_at_the_gate_is_named() -> None:
    at_gate = failed("x", layer=Layer.SUITE)
    for history in ([at_gate, at_gate.model_copy(update={"patch_digest": "q"})], [at_gate]):
        view = PLENTY if len(history) == 2 else spent(steps=8)
        assert decide(history, view) == decide(history, view)
        stop = decide(history, view)
        assert isinstance(stop, Stop)
        assert stop.reason is StopReason.GATE_REGRESSION


def test_being_killed_twice_is_named() -> None:
    decision = decide([failed("x", "p", killed_by="wall"), failed("y", "q", killed_by="memory")], PLENTY)
    assert isinstance(decision, Stop)
    assert decision.reason is StopReason.SANDBOX_KILLED


def test_a_stop_from_the_world_is_obeyed() -> None:
    decision = decide([EMPTY.model_copy(update={"stop": StopReason.FLAKY_CHECK})], PLENTY)
    assert isinstance(decision, Stop)
    assert decision.reason is StopReason.FLAKY_CHECK


verdicts = st.builds(
    Verdict,
    author=st.sampled_from("ab"),
    proposed=st.booleans(),
    passed=st.just(False),
    layer=st.sampled_from([None, *Layer]),
    fingerprint=st.sampled_from("xyz"),
    patch_digest=st.sampled_from("pqr"),
    killed_by=st.sampled_from([None, "wall"]),
    exhausted=st.booleans(),
    findings=st.sampled_from([(), (Finding(kind=FindingKind.FAILURE, check="c", message="m"),)]),
)


@given(st.lists(verdicts, min_size=1, max_size=12), st.integers(0, 12), st.floats(0, 400))
def test_a_failure_never_lands_and_every_run_ends(history: list[Verdict], steps: int, seconds: float) -> None:
    view = BudgetView(budget=Budget(), spent=Cost(steps=steps, seconds=seconds))
    decision = decide(history, view)
    assert not isinstance(decision, Land)
    if view.refusal(Cost(steps=1)) is not None:
        assert isinstance(decision, Stop | Switch)
    assert decision == decide(history, view)
