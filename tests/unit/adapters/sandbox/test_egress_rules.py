"""The pure part of the proxy: names, addresses, heads, and hiding a secret in a stream."""

from __future__ import annotations

import ipaddress
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from referee.adapters.sandbox.egress.addresses import public
from referee.adapters.sandbox.egress.heads import Unacceptable, read
from referee.adapters.sandbox.egress.mask import Mask
from referee.adapters.sandbox.egress.outside import Outside, Unreachable
from referee.domain.destination import Destination, Injection, NotAName, destination, host_name, plainly
from referee.domain.errors import UsageError

LABELS = st.text("abcxyz019-", min_size=1, max_size=8).map(lambda text: f"a{text}z")
INJECTION = Injection(header="Authorization", variable="TOKEN", form="Bearer {}")
NAMES = st.lists(LABELS, min_size=2, max_size=4).map(".".join)


@given(NAMES, st.integers(1, 65535))
def test_a_plain_name_is_a_destination_in_any_case(name: str, port: int) -> None:
    assert destination(f"{name.upper()}:{port}") == Destination(host=name, port=port)
    assert destination(name) == Destination(host=name, port=443)


@given(st.text(max_size=40))
@example("a.b.")
@example("a..b")
@example("-a.b")
@example("a_b.c")
@example("\u212aelvin.example")  # the sign for kelvin is a k in lower case
@example("*.example.org")
def test_whatever_is_accepted_is_plain(text: str) -> None:
    try:
        name = host_name(text)
    except NotAName:
        return
    assert name == text.lower()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert text.isascii()


@given(st.ip_addresses())
def test_an_address_is_no_name_however_it_is_written(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    number = int(address)
    forms = [str(address), address.exploded, f"[{address}]", str(number), hex(number), f"0{number:o}"]
    if isinstance(address, ipaddress.IPv4Address):
        a, b, c, d = address.packed
        forms += [f"{a}.{b}.{(c << 8) + d}", f"{a:#x}.{b:#o}.{c}.{d:#x}", f"{address}.", f"::ffff:{address}"]
    for form in forms:
        with pytest.raises(NotAName):
            host_name(form)


@given(st.ip_addresses())
def test_what_python_calls_near_is_near(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if not address.is_global or address.is_multicast:
        assert not public(str(address)) or address in ipaddress.IPv6Network("64:ff9b::/96")


@given(st.ip_addresses(v=4))
@example(ipaddress.IPv4Address("127.0.0.1"))
@example(ipaddress.IPv4Address("169.254.169.254"))
def test_an_address_within_another_is_no_way_round(inner: ipaddress.IPv4Address) -> None:
    number = int(inner)
    assert not public(f"::ffff:{inner}")
    assert not public(f"::{inner}")
    assert not public(str(ipaddress.IPv6Address((0x2002 << 112) + (number << 80))))
    assert not public(str(ipaddress.IPv6Address((0x20010000 << 96) + number)))
    assert public(str(ipaddress.IPv6Address((0x0064FF9B << 96) + number))) == public(str(inner))


@pytest.mark.parametrize("address", ("8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001::200e"))
def test_the_public_internet_is_public(address: str) -> None:
    assert public(address)


@pytest.mark.parametrize(
    "address",
    (
        "100.64.0.1",
        "168.63.129.16",
        "fd00:ec2::254",
        "fe80::1",
        "ff02::1",
        "::1",
        "::",
        "fec0::1",
        "fe80::1%eth0",
        "x",
        "",
    ),
)
def test_near_addresses(address: str) -> None:
    assert not public(address)


@given(st.binary(max_size=200))
@example(b"GET http://a.example:80/\x00 HTTP/1.1")
@example(b"GET http://a.example\\@b.example/ HTTP/1.1")
@example(b"GET HTTP://a.example/ HTTP/1.1")
@example(b"CONNECT a.example:443 HTTP/1.1\r\nContent-Length: 3")
def test_reading_a_head_ends_in_a_plain_name_or_a_refusal(head: bytes) -> None:
    try:
        asked = read(head + b"\r\n\r\n")
    except Unacceptable as wrong:
        assert str(wrong).isprintable()
        assert wrong.asked.isprintable()
    else:
        assert host_name(asked.host) == asked.host


PIECES = st.sampled_from(
    ["good.example", "evil.example", "http://", "HTTP://", "//", "/", "\\", "@", ":", ":80", "?", "#", ";", "%2f",
     "%40", ".", "[", "]", "[::1]", " ", "\t", "\r", "\n", "\0", "a", "127.0.0.1", "\uff20", "&", "="]
)  # fmt: skip


@given(st.lists(PIECES, max_size=8).map("".join))
@example("http://good.example/\\@evil.example/")
@example("http://good.example?@evil.example/")
@example("http://good.example:80:90/")
def test_other_readers_see_the_same_host_in_what_is_accepted(text: str) -> None:
    """What passes means one thing to everybody: the library's own parser, also where backslashes count as slashes."""
    try:
        asked = read(f"GET {text} HTTP/1.1\r\n\r\n".encode())
    except Unacceptable:
        return
    for other in (text, text.replace("\\", "/"), unquote(text), text.partition("?")[0]):
        parts = urlsplit(other)
        assert (parts.hostname, parts.port or 80) == (asked.host, asked.port)


def test_a_document_of_a_name_with_an_injection_needs_no_port() -> None:
    plain, secret = destination("a.example:80"), destination("b.example")
    with_header = secret.model_copy(update={"injection": INJECTION})
    allowed = (plain, with_header)
    assert plainly(allowed, "a.example", 80) == plain
    assert plainly(allowed, "b.example", 80) == with_header
    assert plainly(allowed, "b.example", 443) == with_header
    assert plainly((secret,), "b.example", 80) is None


@given(st.lists(st.sampled_from([b"SECRETSECRE", b"T", b"SECRET", b"x", b"", b"SECRETSECRET", b"ECRET"])))
def test_a_secret_is_hidden_however_a_stream_is_cut(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    mask = Mask(("SECRETSECRET",))
    shown = b"".join(mask.feed(p) for p in pieces) + mask.rest()
    assert shown == whole.replace(b"SECRETSECRET", b"*" * 12)


def test_a_mask_without_secrets_changes_and_keeps_nothing() -> None:
    assert Mask(()).feed(b"anything") == b"anything"


@pytest.mark.parametrize("value", (None, "", "short", "with\r\nX: more-of-it", "caf\u00e9-caf\u00e9-caf\u00e9"))
def test_a_secret_that_cannot_be_used_is_said_without_quoting_it(value: str | None) -> None:
    place = destination("b.example").model_copy(update={"injection": INJECTION})
    with pytest.raises(UsageError, match="environment variable TOKEN") as wrong:
        Outside(secret=lambda _: value).values((place,))
    assert not value or value not in str(wrong.value)


def test_a_name_that_does_not_resolve_is_unreachable() -> None:
    class Lost:
        def resolve(self, host: str, port: int) -> tuple[str, ...]:
            raise OSError("no such name")

        connect = secure = None

    with pytest.raises(Unreachable, match="could not be resolved"):
        Outside(network=Lost()).dial(destination("a.example"))  # type: ignore[arg-type]
