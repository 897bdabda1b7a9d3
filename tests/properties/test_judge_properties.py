"""Texts are cleaned and clipped, whatever is in them; the judge's pure parts never raise."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.verdict import CheckResult, CheckState, fingerprint
from referee.judge import compress, stream
from referee.judge.normal import coarse, decode, plain, steady
from referee.judge.suspicion import suspicions

TEXT = st.text(st.characters(), max_size=400)


@given(st.binary(max_size=600))
def test_any_output_becomes_text_a_provider_takes(data: bytes) -> None:
    """Case E11."""
    text = decode(data)
    text.encode("utf-8")
    assert not any(ord(c) < 32 and c not in "\n\t" for c in text)


@given(TEXT)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    assert steady(steady(text)) == steady(text)


@given(st.integers(16**4, 16**12 - 1), st.floats(0.001, 1e6), st.integers(1, 10**6))
def test_time_place_and_address_do_not_count(address: int, seconds: float, line: int) -> None:
    def told(a: int, s: float, n: int) -> str:
        return f"<X at {a:#x}> took {s:.3f}s, see /tmp/x{a}/f.txt, file.py:{n}, line {n}"

    assert steady(told(address, seconds, line)) == steady(told(0xABCDEF, 1.5, 7))


@given(st.integers(), st.integers())
def test_observed_values_count(a: int, b: int) -> None:
    assert (steady(f"assert {a} == 5") == steady(f"assert {b} == 5")) == (a == b)
    assert coarse(f"assert {a} == 5") == coarse(f"assert {b} == 5")


FINDINGS = st.builds(
    Finding, check=st.sampled_from(["a", "b"]), id=TEXT, message=TEXT, cause=TEXT, phase=st.sampled_from(["", "call"]),
    detail=st.lists(TEXT, max_size=4).map(tuple), actual=TEXT,
)  # fmt: skip


@given(st.lists(FINDINGS, max_size=12), st.integers(300, 4_000))
def test_the_cap_is_hard_for_any_findings(found: list[Finding], cap: int) -> None:
    result = CheckResult(check="a", layer=Layer.TARGET, state=CheckState.FAIL, findings=tuple(found))
    told = compress([result], cap)
    assert len(told) <= cap
    told.encode("utf-8")


@given(st.lists(FINDINGS, max_size=6), st.randoms())
def test_order_does_not_change_a_fingerprint(found: list[Finding], random: object) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fingerprint(found) == fingerprint(shuffled)


@given(st.binary(max_size=300), st.binary(min_size=32, max_size=32))
def test_no_unsigned_stream_is_whole(data: bytes, key: bytes) -> None:
    assert stream.read(data, key).broken


@given(st.binary(max_size=200))
def test_any_source_can_be_looked_at(source: bytes) -> None:
    assert suspicions("integrity", "a.py", source, source) == ()
