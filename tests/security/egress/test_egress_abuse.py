"""Smuggled requests, floods, silence and size: what a command may do to the proxy, and through it."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from town import ANSWER, Careless, Server, Town, a_door, a_town

from referee.adapters.sandbox.egress import Outside, door, heads, opening, relay
from referee.domain.destination import destination

GOOD = "good.example.org"
ALLOWED = (destination(f"{GOOD}:80"), destination(f"{GOOD}:7000"))
SECOND = f"GET /admin HTTP/1.1\r\nHost: {GOOD}\r\n\r\n".encode()
TUNNEL = f"CONNECT {GOOD}:7000 HTTP/1.1\r\n\r\n".encode()


def post(*headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join((f"POST http://{GOOD}/ HTTP/1.1", *headers, "", "")).encode() + body


SMUGGLED = {
    "pipelined": post("Content-Length: 0", body=SECOND),
    "beyond the body": post("Content-Length: 3", body=b"abc" + SECOND),
    "chunked": post("Transfer-Encoding: chunked", body=b"0\r\n\r\n" + SECOND),
    "chunked, disguised": post("Transfer-Encoding : chunked", body=b"0\r\n\r\n" + SECOND),
    "both framings": post("Content-Length: 5", "Transfer-Encoding: chunked", body=b"0\r\n\r\n" + SECOND),
    "two lengths": post("Content-Length: 0", f"Content-Length: {len(SECOND)}", body=SECOND),
    "list of lengths": post(f"Content-Length: 0, {len(SECOND)}", body=SECOND),
    "signed length": post("Content-Length: +0", body=SECOND),
    "hexadecimal length": post("Content-Length: 0x0", body=SECOND),
    "header in a value": post("X: a\rGET /admin HTTP/1.1", body=SECOND),
    "header in the address": f"GET http://{GOOD}/\rX:/admin HTTP/1.1\r\n\r\n".encode() + SECOND,
    "keep-alive": post("Connection: keep-alive", "Content-Length: 0", body=SECOND),
    "upgrade": post("Connection: Upgrade", "Upgrade: h2c", "Content-Length: 0", body=SECOND),
}


@pytest.fixture
def town() -> Iterator[Town]:
    with a_town() as made:
        yield made


@pytest.mark.parametrize("attack", SMUGGLED.values(), ids=SMUGGLED)
def test_a_smuggled_request_goes_nowhere(town: Town, attack: bytes) -> None:
    with a_door(Outside(network=town), *ALLOWED) as opened:
        opened.say(attack)
    assert b"/admin" not in b"".join(town.good.heard)


@pytest.mark.parametrize("attack", SMUGGLED.values(), ids=SMUGGLED)
def test_a_smuggled_request_through_a_careless_proxy(town: Town, attack: bytes) -> None:
    control = Careless(town, GOOD)
    control.open.say(attack)
    control.close()
    assert b"/admin" in b"".join(town.good.heard)


def test_a_request_is_written_anew(town: Town) -> None:
    body = b"x" * 200_000
    town.good.close_after = False  # it would break off in the middle of the body
    with a_door(Outside(network=town), *ALLOWED) as opened:
        said = opened.say(
            post("Proxy-Authorization: Basic eA==", "Connection: X-Own", "X-Own: 1", "X-Kept: yes",
                 "Expect: 100-continue", f"Content-Length: {len(body)}", body=body)
        )  # fmt: skip
    heard = b"".join(town.good.heard)
    head, _, rest = heard.partition(b"\r\n\r\n")
    assert head.split(b"\r\n") == [
        b"POST / HTTP/1.1", b"Host: good.example.org", b"Connection: close", b"X-Kept: yes", b"Content-Length: 200000",
    ]  # fmt: skip
    assert body.startswith(rest)
    assert said.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_a_head_that_never_ends_is_bounded(town: Town) -> None:
    flood = b"GET http://good.example.org/ HTTP/1.1\r\n" + b"X: y\r\n" * 1_000_000
    many = "".join(f"X{n}: y\r\n" for n in range(101)).encode()
    with a_door(Outside(network=town), *ALLOWED) as opened:
        opened.say(flood)
        said = opened.say(b"GET http://good.example.org/ HTTP/1.1\r\n" + many + b"\r\n")
    assert said.startswith(b"HTTP/1.1 400")
    assert sorted(c.refused for c in opened.contacts) == [
        "it has more than 100 headers", f"the head of the request is larger than {heads.MOST_BYTES} bytes",
    ]  # fmt: skip


def test_slow_heads_hold_nobody_up(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes now and then keep no connection alive beyond its time, and others are served meanwhile."""
    monkeypatch.setattr(opening, "HEAD_SECONDS", 0.6)
    with a_door(Outside(network=town), *ALLOWED) as opened:
        slow = [socket.create_connection(opened.address, 5) for _ in range(20)]
        began = time.monotonic()
        for wire in slow:
            wire.sendall(b"GET ")
        assert opened.say(post("Content-Length: 0")).endswith(b"answer")
        answers = []
        while slow and time.monotonic() < began + 20:
            for wire in tuple(slow):
                try:
                    wire.sendall(b"x")
                    wire.settimeout(0.01)
                    answers.append(wire.recv(4096))
                except TimeoutError:
                    continue
                except OSError:
                    answers.append(b"")
                slow.remove(wire)
                wire.close()
    assert len(answers) == 20
    assert time.monotonic() - began < 15


def test_connections_at_once_are_bounded(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_AT_ONCE", 4)
    with a_door(Outside(network=town), *ALLOWED) as opened:
        held = [socket.create_connection(opened.address, 5) for _ in range(4)]
        time.sleep(0.2)
        said = opened.say(post("Content-Length: 0"))
        for wire in held:
            wire.close()
    assert said.startswith(b"HTTP/1.1 503")
    assert "too many connections" in opened.contacts[0].refused


@pytest.mark.parametrize("way", ("up", "down"))
def test_bytes_are_bounded_in_sum(way: str) -> None:
    small = {"egress_bytes": 100_000}
    with a_town(Server(answer=b"x" * 65536, close=False)) as town, a_door(Outside(town), *ALLOWED, **small) as opened:
        for _ in range(4):
            opened.say(TUNNEL, b"y" * (60_000 if way == "up" else 1), seconds=1)
    assert sum(len(h) for h in town.good.heard) <= 100_000
    last = opened.contacts[-1]
    assert "as many bytes as it may" in last.refused
    assert sum(c.sent + c.received for c in opened.contacts) < 400_000


def test_silence_ends_a_tunnel(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay.relay, "__defaults__", (0.3,))
    town.good.answer = b""
    town.good.close_after = False
    with a_door(Outside(network=town), *ALLOWED) as opened:
        began = time.monotonic()
        opened.say(TUNNEL, b"x", seconds=20)
        assert time.monotonic() - began < 10
    assert opened.contacts[0].refused == "nothing came for too long"
    assert opened.contacts[0].sent == 1


def test_both_ways_flow_at_once_and_are_counted() -> None:
    """Neither direction waits for the other, however much the two have under way."""
    total = 3 << 20
    with a_town(Server(answer=b"x" * 65536, close=False)) as town, a_door(Outside(network=town), *ALLOWED) as opened:
        wire = socket.create_connection(opened.address, 5)
        wire.sendall(TUNNEL)
        assert wire.recv(200).endswith(b"\r\n\r\n")
        writer = threading.Thread(target=lambda: [wire.sendall(b"y" * 65536) for _ in range(total >> 16)])
        writer.start()
        received = 0
        while received < total // 2:
            received += len(wire.recv(1 << 20))
        writer.join(10)
        assert not writer.is_alive()
        wire.settimeout(2)
        with contextlib.suppress(TimeoutError):  # closing with answers unread would take back what is on its way out
            while wire.recv(1 << 20):
                pass
        wire.close()
    assert opened.contacts[0].sent == total
    assert opened.contacts[0].received >= received


def test_a_half_closed_tunnel_still_answers(town: Town) -> None:
    with a_door(Outside(network=town), *ALLOWED) as opened, socket.create_connection(opened.address, 5) as wire:
        wire.sendall(TUNNEL + b"question")
        wire.shutdown(socket.SHUT_WR)
        said = b""
        while piece := wire.recv(4096):
            said += piece
    assert said.endswith(ANSWER)


def test_nothing_is_connected_after_the_end(town: Town) -> None:
    """A tunnel ends with the command, and what was asked at the last moment is on the record but not done."""
    allowed, asked = Outside(network=town), b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n"
    with a_door(allowed, *ALLOWED) as opened:
        tunnel, last = (socket.create_connection(opened.address, 5) for _ in range(2))
        tunnel.sendall(TUNNEL)
        assert tunnel.recv(200).startswith(b"HTTP/1.1 200")
        last.sendall(asked)
    tunnel.settimeout(2)
    with tunnel, last:
        assert tunnel.recv(10) == b""
    assert {c.target for c in opened.contacts} == {f"{GOOD}:7000", "evil.example:443"}
    with pytest.raises(OSError):
        socket.create_connection(opened.address, 1)


def test_a_connection_that_is_still_being_made_at_the_end_is_on_the_record(town: Town) -> None:
    """A resolver that answers late: nothing is connected any more, and that it was asked for is told."""
    answer = threading.Event()
    usual = town.resolve

    def late(host: str, port: int) -> tuple[str, ...]:
        answer.wait(10)
        return usual(host, port)

    town.resolve = late  # type: ignore[method-assign]
    began = time.monotonic()
    with a_door(Outside(network=town), *ALLOWED) as opened, socket.create_connection(opened.address, 5) as wire:
        wire.sendall(TUNNEL)
        time.sleep(0.2)
    assert time.monotonic() - began < 5
    answer.set()
    (contact,) = opened.contacts
    assert (contact.target, contact.refused) == (f"{GOOD}:7000", "the command had ended")
    time.sleep(0.2)
    assert b"".join(town.good.heard) == b""


def test_nothing_is_left_behind(town: Town) -> None:
    """Descriptors and threads of the harness are as many as before, after connections of every kind."""

    def kept() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    def use() -> None:
        with a_door(Outside(network=town), *ALLOWED) as opened:
            for said in (TUNNEL, post("Content-Length: 0"), b"nonsense\r\n\r\n", b"half", SECOND):
                opened.say(said, b"x", seconds=0.2)
            socket.create_connection(opened.address, 5).close()

    use()
    time.sleep(0.3)
    before = kept()
    for _ in range(5):
        use()
    deadline = time.monotonic() + 5
    while kept() != before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert kept() == before


def test_a_harness_without_free_descriptors_recovers(town: Town) -> None:
    """Accepting fails for a while; the proxy does not die of it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with a_door(Outside(network=town), *ALLOWED) as opened, socket.socket() as waiting:
        opened.say(post("Content-Length: 0"))  # the proxy has its listener by then
        waiting.settimeout(10)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            waiting.connect(opened.address)
            waiting.sendall(post("Content-Length: 0"))
            time.sleep(0.3)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        said = b""
        while piece := waiting.recv(4096):
            said += piece
    assert said.endswith(b"answer")


def test_the_record_is_bounded(town: Town) -> None:
    with a_door(Outside(network=town), *ALLOWED) as opened:
        for n in range(230):
            opened.say(f"CONNECT host{n}.example:443 HTTP/1.1\r\n\r\n".encode())
        opened.say(b"CONNECT " + b"x" * 5000 + b" HTTP/1.1\r\n\r\n")
    assert len(opened.contacts) <= 202
    assert sum(c.times for c in opened.contacts) == 231
    assert max(len(c.target) for c in opened.contacts) <= 200
