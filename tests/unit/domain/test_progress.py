"""Forward, backward or in circles: judged from what the tests said, never from what a model says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.progress import cycle, worse
from referee.domain.verdict import CheckResult, CheckState, Verdict


def failing(*ids: str, layer: Layer = Layer.TARGET, phase: str = "call") -> Verdict:
    findings = tuple(Finding(check="pytest", id=i, phase=phase, message="no") for i in ids)
    result = CheckResult(check="pytest", layer=layer, state=CheckState.FAIL, findings=findings, failed_ids=ids)
    return Verdict(author="a", proposed=True, passed=False, layer=layer, results=(result,), findings=findings)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (failing("a"), failing("a", "b")),
        (failing("a", layer=Layer.SUITE), failing("a")),
        (failing("a"), failing("a", phase="collect")),
        (failing("a", phase="setup"), failing("a", phase="collect")),
    ],
    ids=["one more fails", "the target fails again", "it no longer loads", "not even set up"],
)
def test_a_step_back_is_seen_and_its_reverse_is_none(before: Verdict, after: Verdict) -> None:
    assert worse(after, before)
    assert not worse(before, after)


@pytest.mark.parametrize(
    "after",
    [failing("a"), failing("b"), failing("b", "c"), failing("a", layer=Layer.FORMAT), failing("a", layer=Layer.TYPES)],
    ids=["same", "another", "others", "a linter objects", "types object"],
)
def test_what_is_only_different_is_not_worse(after: Verdict) -> None:
    assert not worse(after, failing("a"))


sets = st.frozensets(st.sampled_from("abcd"), min_size=1)
verdicts = st.builds(lambda ids, layer: failing(*sorted(ids), layer=layer), sets, st.sampled_from(list(Layer)))


@given(verdicts, verdicts, verdicts)
def test_worse_is_a_strict_order(a: Verdict, b: Verdict, c: Verdict) -> None:
    assert not worse(a, a)
    assert not (worse(a, b) and worse(b, a))
    if worse(a, b) and worse(b, c):
        assert worse(a, c)


@pytest.mark.parametrize(
    ("prints", "period"),
    [
        ("x", 0),
        ("xx", 1),
        ("xyxy", 2),
        ("xyx", 0),
        ("axyxy", 2),
        ("xyzxyz", 3),
        ("xyzx", 0),
        ("wxyzwxyz", 0),
        ("xyyz", 0),
    ],
)
def test_cycles_up_to_three_are_seen(prints: str, period: int) -> None:
    assert cycle(list(prints)) == period


def test_no_fingerprint_is_no_repetition() -> None:
    assert cycle(["", ""]) == 0


@given(st.lists(st.sampled_from("xyz"), max_size=12, unique=True))
def test_failures_that_all_differ_are_never_a_cycle(prints: list[str]) -> None:
    assert cycle(prints) == 0
