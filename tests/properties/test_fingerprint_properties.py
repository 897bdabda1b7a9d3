"""A4 over all readers: what moves from run to run does not change a fingerprint, what was observed does."""

from __future__ import annotations

import pytest
from failure_reports import WRITERS, compared, raised, read
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.domain.verdict import fingerprint
from referee.judge import compress

FEW = settings(max_examples=12)  # for each reader
LINES = st.integers(1, 9_999)
_HEX = "0123456789abcdef"
_DIGITS = st.integers(0, 9_999)
# What a text may say besides what was observed; each part is drawn anew for each run.
MOVING = {
    "address": st.integers(16**5, 16**12).map(lambda n: f"<Cart object at {n:#x}>"),
    "duration": st.floats(0.0001, 999).map(lambda s: f"it took {s:.3f}s"),
    "minutes": st.integers(1, 59).map(lambda n: f"after {n}m {n}s"),
    "milliseconds": _DIGITS.map(lambda n: f"({n} ms)"),
    "folder": st.text("abc123", min_size=1, max_size=8).map(lambda t: f"in /tmp/run-{t}/log.txt"),
    "made-up name": st.text("abcdefgh_0123", min_size=8, max_size=8).map(lambda t: f"file tmp{t} is gone"),
    "uuid": st.uuids().map(lambda u: f"request {u}"),
    "time": st.datetimes().map(lambda t: f"at {t:%Y}-01-02 {t:%H:%M:%S,%f}".replace(f"at {t:%Y}", f"at {t.year:04}")),
    "port": st.integers(1_024, 65_535).map(lambda n: f"127.0.0.1:{n} and port {n}"),
    "process": _DIGITS.map(lambda n: f"pid={n}"),
    "thread": _DIGITS.map(lambda n: f"in Thread-{n}"),
    "seed": st.integers(0, 2**32).map(lambda n: f"seed={n}"),
    "mock": st.integers(10**11, 10**15).map(lambda n: f"<Mock name='m' id='{n}'>"),
    "place": st.tuples(LINES, LINES).map(lambda n: f"cart.py:{n[0]}:{n[1]}, line {n[0]}"),
    "digest": st.text(_HEX, min_size=40, max_size=40).filter(lambda t: not t.isdigit()).map(lambda t: f"commit {t}"),
}
ONE = st.tuples(*MOVING.values()).map(", ".join)


def prints(reader: str, text: str, line: int) -> str:
    result = read(reader, text, line)
    assert result.findings and not result.note, result
    return fingerprint(result.findings)


@pytest.mark.parametrize("reader", WRITERS)
@FEW
@given(ONE, ONE, LINES, LINES, st.integers(0, 99), st.integers(0, 99))
def test_readers(reader: str, moved: str, other: str, line: int, elsewhere: int, value: int, changed: int) -> None:
    text = "wanted 5 and got {}, {}".format
    once = prints(reader, text(value, moved), line)
    assert once == prints(reader, text(value, other), elsewhere)
    assert (once == prints(reader, text(changed, other), elsewhere)) == (value == changed)
    assert once != prints(reader, f"lost 5 and got {value}, {moved}", line)


@pytest.mark.parametrize("kind", MOVING)
@FEW
@given(st.data())
def test_exceptions(kind: str, data: st.DataObject) -> None:
    """Each kind alone, so that a failure names it."""
    once, again = (raised(f"got 4, {data.draw(MOVING[kind])}", data.draw(LINES)) for _ in range(2))
    assert fingerprint([once]) == fingerprint([again])
    assert fingerprint([once]) != fingerprint([raised(f"got 5, {data.draw(MOVING[kind])}", 1)])


@given(ONE, ONE, LINES, LINES, st.integers(), st.integers())
def test_comparisons(moved: str, other: str, line: int, elsewhere: int, value: int, changed: int) -> None:
    once = fingerprint([compared(f"({value}, {moved!r})", "(5, None)", line)])
    assert once == fingerprint([compared(f"({value}, {other!r})", "(5, None)", elsewhere)])
    assert (once == fingerprint([compared(f"({changed}, {other!r})", "(5, None)", elsewhere)])) == (value == changed)


OBSERVABLE = [
    ("'29 seconds'", "'31 seconds'", "'30 seconds'"),
    ("'2026-01-02 03:04:05'", "'2026-01-02 03:04:06'", "'2026-01-02 03:04:07'"),
    ("'localhost:80'", "'localhost:81'", "'localhost:8080'"),
    ("'a.py:3'", "'a.py:4'", "'a.py:5'"),
    ("'pid 3'", "'pid 4'", "'pid 5'"),
    ("'/tmp/x/1.txt'", "'/tmp/x/2.txt'", "'/tmp/x/3.txt'"),
    ("'" + "a" * 40 + "'", "'" + "b" * 40 + "'", "'" + "c" * 40 + "'"),
]


@pytest.mark.parametrize(("before", "after", "expected"), OBSERVABLE)
def test_where_such_a_thing_is_expected_it_is_what_was_observed(before: str, after: str, expected: str) -> None:
    """No false "no progress" in a project about durations, times, ports or places."""
    assert fingerprint([compared(before, expected, 1)]) != fingerprint([compared(after, expected, 1)])
    told = [raised(f"{seen} != {expected}", 1, "AssertionError") for seen in (before, after)]
    assert fingerprint(told[:1]) != fingerprint(told[1:])
    assert prints("unittest", f"{before} != {expected}", 1) != prints("unittest", f"{after} != {expected}", 1)


@pytest.mark.parametrize("reader", WRITERS)
@FEW
@given(ONE, LINES, LINES)
def test_one_failure_less_is_progress(reader: str, moved: str, line: int, other: int) -> None:
    """Also of failures that are all alike, as of a linter's."""
    found = (*read(reader, moved, line).findings, *read(reader, moved, other).findings)
    assert fingerprint(found) != fingerprint(found[:1])


@pytest.mark.parametrize("reader", WRITERS)
@FEW
@given(st.lists(st.tuples(ONE, LINES), min_size=1, max_size=5), st.randoms())
def test_the_same_failures_are_told_in_the_same_words(reader: str, said: list[tuple[str, int]], chance: object) -> None:
    """Whatever order they come in."""
    result = read(reader, *said[0])
    found = [read(reader, *each).findings[0].model_copy(update={"id": f"t{n}"}) for n, each in enumerate(said)]
    shuffled = list(found)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    one, two = (result.model_copy(update={"findings": tuple(f)}) for f in (found, shuffled))
    assert compress([one]) == compress([two])
