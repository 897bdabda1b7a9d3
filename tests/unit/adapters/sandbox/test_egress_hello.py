"""Reading the name in the first message of TLS: real messages, cut, doctored and made up."""

from __future__ import annotations

import ssl

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from referee.adapters.sandbox.egress.hello import NotTls, server_name

NAME = "good.example.org"


def real(name: str | None) -> bytes:
    """What this Python's TLS sends first."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    out = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    return out.read()


def test_the_name_is_found_when_the_message_is_whole() -> None:
    whole = real(NAME.upper())
    assert server_name(whole) == NAME
    assert server_name(whole + b"more") == NAME
    assert server_name(real(None)) == ""
    assert all(server_name(whole[:n]) is None for n in range(len(whole)))


def test_a_message_in_many_records_is_one() -> None:
    body = real(NAME)[5:]
    pieces = (body[n : n + 7] for n in range(0, len(body), 7))
    assert server_name(b"".join(b"\x16\x03\x01" + len(p).to_bytes(2, "big") + p for p in pieces)) == NAME


def test_two_names_are_none() -> None:
    """A reader that takes the last name and one that takes the first would disagree."""
    whole = real(NAME)
    entry = b"\x00" + len(NAME).to_bytes(2, "big") + NAME.encode()
    at = whole.index(entry) - 2
    for doctored in (
        whole[:at]
        + (2 * len(entry)).to_bytes(2, "big")
        + entry[:3]
        + b"evil.example.org"
        + whole[at + 2 + len(entry) :],
        whole.replace(entry, entry.replace(b"\x00", b"\x01", 1)),
    ):
        with pytest.raises(NotTls):
            server_name(doctored)


@pytest.mark.parametrize(
    "data", (b"GET / HTTP/1.1\r\n\r\n", b"SSH-2.0-x", b"\x16\x02\x01\x00\x05xxxxx", b"\x17\x03\x03")
)
def test_what_is_no_tls(data: bytes) -> None:
    with pytest.raises(NotTls):
        server_name(data)


@given(st.binary(max_size=300))
@example(b"\x16\x03\x01\x00\x04\x01\x00\x00\x00")
def test_anything_at_all_is_a_name_more_or_none(data: bytes) -> None:
    for made in (data, b"\x16\x03\x01" + len(data).to_bytes(2, "big") + data):
        try:
            found = server_name(made)
        except NotTls:
            continue
        assert found is None or found == found.lower()
