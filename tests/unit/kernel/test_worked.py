"""A run's clock across crashes: what was worked counts, what nobody worked does not."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from referee.kernel.journal import worked
from referee.ports import Entry, Kind

R, E, OPEN, A = Kind.REQUESTED, Kind.ENDED, Kind.OPENED, Kind.ANSWERED


def entries(*told: tuple[float, Kind] | tuple[float, Kind, float]) -> tuple[Entry, ...]:
    made = []
    for n, (at, kind, *elapsed) in enumerate(told, start=1):
        time = datetime.fromtimestamp(at, UTC).isoformat()
        payload = json.dumps({"elapsed": elapsed[0]} if elapsed else {})
        made.append(Entry(n=n, at=time, key=f"k{n}", kind=kind, payload=payload))
    return tuple(made)


def test_the_clock_goes_on_where_the_last_thing_known_happened() -> None:
    assert worked((), 0) == 0
    assert worked(entries((100, OPEN, 0), (101, R), (111, E, 11)), 0) == 11
    assert worked(entries((100, OPEN, 0), (101, R), (111, E, 11), (115, R)), 0) == 15
    assert worked(entries((100, OPEN, 0), (101, R)), 151) == 51, "the lease was renewed while the action ran"


def test_what_nobody_worked_does_not_count() -> None:
    before = entries((100, OPEN, 0), (101, R), (111, E, 11), (115, R))
    assert worked((*before, *entries((90_000, OPEN, 15))), 0) == 15
    assert worked((*before, *entries((90_000, OPEN, 15), (90_002, R))), 0) == 17
    assert worked((*before, *entries((90_000, A))), 0) == 15, "a person took their time"
    assert worked(before, 50) == 15, "an old sign of life"


def test_a_run_killed_again_and_again_comes_to_its_end() -> None:
    """Each leg opens, requests the long action anew, and dies in it after 20 s."""
    legs: list[Entry] = []
    clock = 0.0
    for n in range(10):
        at = 1_000.0 * n
        legs += entries((at, OPEN, clock), (at + 1, R))
        clock = worked(tuple(legs), at + 20)
    assert clock == 200


@given(st.lists(st.tuples(st.floats(0, 50), st.sampled_from([R, E, Kind.NOTED]))))
def test_within_one_process_it_is_the_time_since_it_opened(steps: list[tuple[float, Kind]]) -> None:
    at = 1_000.0
    told: list[tuple[float, Kind, float]] = [(at, OPEN, 0.0)]
    for seconds, kind in steps:
        at += round(seconds, 3)
        told.append((at, kind, at - 1_000.0))
    assert abs(worked(entries(*told), 0) - (at - 1_000.0)) < 0.01
