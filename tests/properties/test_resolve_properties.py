"""Edits against a plain model of what they mean, over files with every mixture of line endings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from referee.domain.edits import Misfit, splice
from referee.domain.proposal import Edit

LINE = st.binary(max_size=4).map(lambda b: b.replace(b"\n", b"").replace(b"\r", b"")) | st.sampled_from([b"a", b"aa"])
FILE = st.lists(st.tuples(LINE, st.sampled_from([b"\n", b"\r\n", b"\n"])), max_size=8).map(
    lambda lines: b"".join(line + end for line, end in lines)
)
ASCII_FILE = st.lists(
    st.tuples(st.sampled_from(["a", "aa", "b = 1", ""]), st.sampled_from(["\n", "\r\n"])), max_size=8
).map(lambda lines: "".join(line + end for line, end in lines).encode())


def occurrences(data: bytes, old: bytes) -> int:
    return sum(data[i : i + len(old)] == old for i in range(len(data)))


@given(FILE, st.text("abc=1 ", min_size=1, max_size=3), st.text("xyz", max_size=3))
def test_one_edit_within_a_line_is_a_replacement_of_the_only_occurrence(data: bytes, old: str, new: str) -> None:
    count = occurrences(data, old.encode())
    try:
        after = splice(data, (Edit(old=old, new=new),))
    except Misfit:
        assert count != 1
    else:
        assert count == 1
        assert after == data.replace(old.encode(), new.encode())


@given(ASCII_FILE, st.data())
def test_lines_that_an_edit_repeats_keep_their_bytes(data: bytes, draw: st.DataObject) -> None:
    text = data.decode().replace("\r\n", "\n")
    lines = text.split("\n")
    first = draw.draw(st.integers(0, len(lines) - 1))
    last = draw.draw(st.integers(first, len(lines) - 1))
    old = "\n".join(lines[first : last + 1])
    middle = draw.draw(st.integers(first, last))
    new = "\n".join("CHANGED" if i == middle else line for i, line in enumerate(lines) if first <= i <= last)
    if not old:
        return
    try:
        after = splice(data, (Edit(old=old, new=new),))
    except Misfit:
        assert occurrences(text.encode(), old.encode()) != 1
        return
    raw = data.split(b"\n")
    raw[middle] = b"CHANGED" + (b"\r" if raw[middle].endswith(b"\r") else b"")
    assert after == b"\n".join(raw)


@given(FILE, st.lists(st.tuples(st.text("ab\n", min_size=1, max_size=3), st.text("ab\n", max_size=3)), max_size=4))
def test_any_edits_succeed_or_are_refused(data: bytes, edits: list[tuple[str, str]]) -> None:
    try:
        splice(data, tuple(Edit(old=o, new=n) for o, n in edits))
    except Misfit as refused:
        assert str(refused)
