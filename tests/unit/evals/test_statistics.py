"""The statistics against values that are known from elsewhere."""

from __future__ import annotations

import pytest

from referee.evals import statistics


def test_wilson_is_as_in_the_tables() -> None:
    ten = statistics.wilson(8, 10)
    assert (round(ten.low, 4), round(ten.high, 4)) == (0.4902, 0.9433)
    none = statistics.wilson(0, 20)
    assert (none.low, round(none.high, 4)) == (0.0, 0.1611)
    every = statistics.wilson(20, 20)
    assert (round(every.low, 4), every.high) == (0.8389, 1.0)
    with pytest.raises(ValueError, match="no share"):
        statistics.wilson(0, 0)


@pytest.mark.parametrize(
    ("pairs", "p"),
    [
        ((0, 0), 1.0),
        ((5, 5), 1.0),
        ((0, 5), 0.0625),
        ((1, 9), 0.021484375),
        ((10, 2), 0.03857421875),
        ((0, 6), 0.03125),
    ],
)
def test_mcnemar_is_the_binomial_test(pairs: tuple[int, int], p: float) -> None:
    assert statistics.mcnemar(*pairs) == pytest.approx(p)
    assert statistics.mcnemar(*pairs[::-1]) == pytest.approx(p)


def test_nothing_in_sixty_is_below_five_percent() -> None:
    assert statistics.upper_bound(60) == pytest.approx(0.0487, abs=1e-4)
    assert statistics.upper_bound(1000) == pytest.approx(3 / 1000, rel=5e-3)
    assert statistics.upper_bound(0) == 1.0


def test_percentiles_are_interpolated() -> None:
    assert statistics.percentile([4, 1, 3, 2], 0.5) == 2.5
    assert statistics.percentile([1, 2, 3, 4, 5], 0.95) == pytest.approx(4.8)
    assert statistics.percentile([7], 0.95) == 7


def test_drawing_tasks_whole_widens_the_interval() -> None:
    """Ten repeats that all agree are no more than one observation of their task."""
    alike = {f"t{n}": [float(n % 2)] * 10 for n in range(10)}
    apart = {f"t{n}.{m}": [float(n % 2)] for n in range(10) for m in range(10)}
    whole, single = statistics.clustered(alike), statistics.clustered(apart)
    assert whole.mean == single.mean == 0.5
    assert single.high - single.low == pytest.approx(2 * 1.96 * (0.25 / 100) ** 0.5, rel=0.1)
    assert whole.high - whole.low == pytest.approx(2 * 1.96 * (0.25 / 10) ** 0.5, rel=0.15)
    assert statistics.clustered(alike) == whole


def test_repeats() -> None:
    outcomes = {"a": [True, True], "b": [True, False], "c": [False, False], "d": [False, True]}
    assert statistics.flip_rate(outcomes) == 0.5
    assert statistics.any_of(outcomes) == 0.75
    assert statistics.all_of(outcomes) == 0.25
    assert statistics.flip_rate({"a": [True]}) is None
