"""Keeping the ends of a stream, and only those."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from referee.adapters.sandbox.streams import Capped, Whole, heard


@given(st.lists(st.binary(max_size=400)), st.integers(min_value=0, max_value=300))
def test_both_ends_are_kept_and_everything_counted(chunks: list[bytes], cap: int) -> None:
    stream, everything = Capped(cap), b"".join(chunks)
    for chunk in chunks:
        stream.feed(chunk)
    assert stream.total == len(everything)
    if len(everything) <= cap:
        assert stream.content == everything
        return
    head, tail = everything[: cap - cap // 2], everything[len(everything) - cap // 2 :]
    assert stream.content == head + b"\n[... %d bytes left out ...]\n" % (len(everything) - cap) + tail
    assert stream.flooded == (len(everything) > 64 * cap)


def test_what_is_held_does_not_grow() -> None:
    stream = Capped(1000)
    for _ in range(200):
        stream.feed(b"x" * 65536)
    assert len(stream._head) + len(stream._tail) < 1000 + 5 * 65536


@given(st.lists(st.binary(max_size=50)), st.integers(min_value=0, max_value=100))
def test_a_whole_stream_is_kept_up_to_its_cap(chunks: list[bytes], cap: int) -> None:
    stream, everything = Whole(cap), b"".join(chunks)
    for chunk in chunks:
        stream.feed(chunk)
    assert stream.content == everything[:cap]
    assert stream.flooded == (len(everything) > cap)


def test_who_listens_hears_all_of_it_and_only_while_listening() -> None:
    told: list[tuple[str, bytes]] = []
    with heard(lambda name, data: told.append((name, data))):
        stream, nameless = Capped(10, "stdout"), Capped(10)
    Capped(10, "stdout").feed(b"unheard")
    for part in (b"one", b"x" * 100):
        stream.feed(part)
        nameless.feed(part)
    assert told == [("stdout", b"one"), ("stdout", b"x" * 100)]
    assert stream.total == 103
