"""Whatever surrounds it, the same object comes out; whatever comes in, only `Rejected` goes out."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from referee.domain.errors import Rejected
from referee.domain.proposal import PatchProposal
from referee.domain.strict_json import extract, parse

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
LEAF = (
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
)
VALUE = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)
OBJECT = st.dictionaries(TEXT, VALUE, min_size=1, max_size=5)
PROSE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{"), max_size=60)


@given(OBJECT, PROSE, PROSE, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_one_object_comes_out_of_any_prose(
    found: dict, before: str, after: str, indent: int | str | None, ascii: bool
) -> None:
    assert extract(before + json.dumps(found, indent=indent, ensure_ascii=ascii) + after) == found


@given(st.text(max_size=200) | OBJECT.map(json.dumps))
def test_nothing_else_is_ever_raised(reply: str) -> None:
    try:
        parse(reply, PatchProposal)
    except Rejected as refused:
        assert 0 < len(str(refused)) < 6_000


@given(OBJECT, st.data())
def test_no_truncation_of_an_object_is_an_object(found: dict, data: st.DataObject) -> None:
    text = json.dumps(found)
    cut = data.draw(st.integers(0, len(text) - 1))
    try:
        extract(text[:cut])
    except Rejected:
        return
    raise AssertionError(text[:cut])
