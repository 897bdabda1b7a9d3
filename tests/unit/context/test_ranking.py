"""Ranking files by shared words, and fusing several rankings."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from referee.context.ranking import K, bm25, fused, words

NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True)


def test_two_good_places_beat_one_first_place() -> None:
    assert next(iter(fused([["a", "b"], ["c", "b"]]))) == "b"
    assert fused([["a"]]) == {"a": 1 / (K + 1)}


@given(st.lists(NAMES, max_size=5))
def test_the_fusion_has_every_path_once_and_never_prefers_what_is_behind_everywhere(rankings: list[list[str]]) -> None:
    scores = fused(rankings)
    assert set(scores) == {path for ranking in rankings for path in ranking}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    full = [r for r in rankings if {"a", "b"} <= set(r)]
    if full == rankings and rankings and all(r.index("a") < r.index("b") for r in rankings):
        assert scores["a"] > scores["b"]


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_the_order_of_the_rankings_does_not_matter(rankings: list[list[str]]) -> None:
    backwards = fused(list(reversed(rankings)))
    assert {p: round(s, 12) for p, s in fused(rankings).items()} == {p: round(s, 12) for p, s in backwards.items()}


def test_names_count_whole_and_in_their_parts() -> None:
    found = words("applyDiscount(total_price, HTTPServer) return None")
    assert found["applydiscount"] == found["apply"] == found["discount"] == found["price"] == found["http"] == 1
    assert "return" not in found


def test_a_rare_word_tells_more_than_a_common_one_and_a_long_file_less() -> None:
    files = {
        "common.py": Counter({"total": 3}),
        "rare.py": Counter({"total": 1, "discount": 1}),
        "long.py": Counter({"discount": 1, "other": 400}),
    }
    scores = bm25(Counter({"total": 1, "discount": 1}), files)
    assert list(scores) == ["rare.py", "common.py", "long.py"]
    assert "none.py" not in bm25(Counter({"discount": 1}), {**files, "none.py": Counter({"x": 1})})
    assert bm25(Counter({"x": 1}), {}) == {}
