"""When a planned task is begun: never twice for one time, never to make up for what was missed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.domain.schedule import LEAST, begun, following, planned

DAY = 86_400.0
NOON = 1_767_268_800.0  # 2026-01-01T12:00 UTC, a Thursday


@pytest.mark.parametrize(
    ("when", "hours"),
    [("every 30m", 0.5), ("0 6 * * *", 18.0), ("0 13 * * 4", 1.0), ("2026-01-02T12:00", 24.0),
     ("2026-01-02T12:00+01:00", 23.0)],
)  # fmt: skip
def test_the_next_time(when: str, hours: float) -> None:
    assert following(when, NOON) == NOON + hours * 3_600


@pytest.mark.parametrize(
    "when", ["every 299s", "every 1m", "* * * * *", "*/4 * * * *", "soon", "0 6 * *", "99 6 * * *", "every 0h"]
)
def test_what_is_no_time_or_too_often_is_refused_in_words(when: str) -> None:
    with pytest.raises(ValueError, match=r"too often|is no"):
        following(when, NOON)


def test_a_time_that_is_over_cannot_be_planned() -> None:
    with pytest.raises(ValueError, match="is over"):
        planned("2025-01-01T00:00", "x", NOON, "agent")


def test_once_is_once() -> None:
    entry = planned("2026-01-01T13:00", "x", NOON, "fix")
    assert begun(entry, NOON + 3_599) is None
    after = begun(entry, NOON + 9 * DAY)
    assert after is not None and (after.due, after.missed) == (None, 0)
    assert begun(after, NOON + 10 * DAY) is None


def test_a_week_away_is_one_run_and_the_rest_is_told() -> None:
    entry = planned("0 6 * * *", "x", NOON, "agent")
    after = begun(entry, NOON + 7 * DAY)
    assert after is not None and after.missed == 6 and after.due == NOON + 7 * DAY + 18 * 3_600


@given(every=st.integers(LEAST, 10 * 86_400), late=st.floats(0, 400 * DAY))
def test_whenever_somebody_looks_it_is_begun_once_and_the_next_time_lies_ahead(every: int, late: float) -> None:
    entry = planned(f"every {every}s", "x", NOON, "agent")
    assert entry.due is not None
    now = entry.due + late
    after = begun(entry, now)
    assert after is not None and after.due is not None and now < after.due <= now + every + 1
    assert begun(after, now) is None
