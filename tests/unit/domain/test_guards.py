"""Going round in circles is noticed; work that goes on is not."""

from __future__ import annotations

import pytest

from referee.domain.guards import Made, made, stuck


def run(*calls: str, outcome: str = "done") -> list[Made]:
    """`a1` is the call a with the result 1."""
    return [made(c[0], "{}", outcome, c[1:]) for c in calls]


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (["a1", "a1", "a1"], "the same call of a 3 times"),
        (["a1", "b1"] * 3, "the same 2 calls came round"),
        (["a1", "b1", "c1"] * 3, "the same 3 calls came round"),
        (["a1", "a2", "a3", "a4"], ""),
        (["a1", "b1", "a2", "b2", "a3", "b3"], ""),
        ([f"a{n}" for n in range(10)] + [f"a{n}" for n in range(9, -1, -1)], "nothing that you had not seen"),
    ],
)
def test_what_repeats_is_named(calls: list[str], said: str) -> None:
    assert said in stuck(run(*calls)) and bool(said) == bool(stuck(run(*calls)))


def test_failures_in_a_row_are_named_and_a_success_ends_them() -> None:
    bad = run(*(f"a{n}" for n in range(6)), outcome="failed")
    assert "6 calls in a row did not succeed" in stuck(bad)
    assert stuck([*bad[:5], *run("b1"), bad[5]]) == ""


def test_after_a_warning_only_what_came_since_counts() -> None:
    calls = run("a1", "a1", "a1")
    assert stuck(calls, since=3) == ""
    assert stuck([*calls, *run("b1", "b2")], since=3) == ""
    assert stuck([*calls, *run("a1", "a1", "a1")], since=3) != ""


def test_how_long_a_call_took_is_no_news() -> None:
    assert made("a", "{}", "done", "x\n[exit code 0; 0.1 s]") == made("a", "{}", "done", "x\n[exit code 0; 2.7 s]")
