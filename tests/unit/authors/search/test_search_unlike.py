"""Edits of the same line that mean the same, and such that only seem to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.authors.search.unlike import between, unlike

SAME = [
    ("if weight >= 5: pass", "if weight > 4: pass"),
    ("x = width * height", "x = height * width"),
    ("x = a + (b - a) / 2", "x = (a + b) / 2"),
    ("if not depth: pass", "if depth == 0: pass"),
    ("while low <= high: pass", "while not low > high: pass"),
    ("if len(rows) > 0: pass", "if len(rows): pass"),
    ("if -n < 0: pass", "if n > 0: pass"),
    ("x = [r for r in rows if r.size > 5]", "x = [r for r in rows if not r.size <= 5]"),
    ("total += a + b", "total += b + a"),
    ("x = 1  # as it was", "x = 1"),
]
OTHER = [
    ("if age >= self.limit - 2: pass", "if age > self.limit: pass", "age is"),
    ("if low < high: pass", "if low != high: pass", "low is"),
    ("x = a // b", "x = a / b", "a is"),
    ("total += net", "total -= net", "net is"),
    ("x = len(rows)", "x = len(rows) - 1", "len(rows) is"),
    ('if kind == "a": pass', 'if kind != "b": pass', "kind is"),
    ("x = start if ready else end", "x = end if ready else start", ""),
    ("x = merge(first, second)", "x = merge(second, first)", ""),
    ("x = rows[0]", "x = rows[-1]", ""),
    ("return_ = 1", "if x: return_ = 1", ""),
    ("x = 1", "y = 1", ""),
    ("x = 1", "x = (", ""),
    ("x = 10 % n", "x = 10 // n", "n is"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_another_wording_means_the_same(one: str, other: str) -> None:
    assert unlike(one, other) is None
    assert unlike(other, one) is None


@pytest.mark.parametrize(("one", "other", "where"), OTHER)
def test_what_means_something_else_is_told_with_where_it_does(one: str, other: str, where: str) -> None:
    found = unlike(one, other)
    assert found is not None and where in found.where
    assert unlike(other, one) is not None


def test_values_are_told_that_people_expect_if_there_are_any() -> None:
    usual = unlike("if age > limit: pass", "if age >= limit: pass")
    assert usual is not None and "-" not in usual.where and usual.where
    rare = unlike("if n > -2 and n < 0: pass", "if n > 0 and n < 0: pass")
    assert rare is not None and "-" in rare.where


def test_edits_of_other_files_are_unlike() -> None:
    assert between({"a.py": "x = 1"}, {"b.py": "x = 1"}) is not None
    assert between({"a.py": "x = 1", "b.py": "y = n"}, {"a.py": "x = 1", "b.py": "y = n"}) is None


NAMES = st.sampled_from(["a", "b", "rows.size", "len(rows)", "0", "1", "2.5", "'t'", "None"])
OPERATORS = st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "<=", "==", "!=", "in", "and", "or", "is"])
TEXTS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, OPERATORS, inner),
        st.builds("(not {})".format, inner),
        st.builds("f({}, k={})".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
    ),
    max_leaves=8,
)


@settings(max_examples=25)
@given(TEXTS, TEXTS)
def test_an_expression_is_like_itself_whatever_it_is_made_of_and_unlikeness_has_no_side(one: str, other: str) -> None:
    assert unlike(f"x = {one}", f"x = ({one})") is None
    assert unlike(f"if {one}: pass", f"if not (not {one}): pass") is None
    sides = unlike(f"x = {one}", f"x = {other}"), unlike(f"x = {other}", f"x = {one}")
    assert (sides[0] is None) == (sides[1] is None)
