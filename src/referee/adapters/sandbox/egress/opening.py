"""What a command says first, read to its end in bounded time, and what it is told when there is no connection."""

from __future__ import annotations

import contextlib
import socket
import time

from referee.adapters.sandbox.egress import heads, hello
from referee.adapters.sandbox.egress.heads import Unacceptable
from referee.domain.destination import HTTPS, Destination

HEAD_SECONDS = 10.0
_REASONS = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway", 503: "Service Unavailable"}


def first_head(inner: socket.socket) -> tuple[bytes, bytes]:
    """The head of a request and what came with it already; nothing if nobody said anything. Raises `Unacceptable`."""
    data, deadline = b"", time.monotonic() + HEAD_SECONDS
    while (end := data.find(heads.END)) < 0:
        if len(data) > heads.MOST_BYTES:
            raise Unacceptable(f"the head of the request is larger than {heads.MOST_BYTES} bytes")
        left = deadline - time.monotonic()
        try:
            inner.settimeout(max(0.001, left))
            more = inner.recv(4096)
        except TimeoutError:
            left = 0.0
        if left <= 0:  # however steadily a few bytes keep coming
            raise Unacceptable(f"there was no complete request after {HEAD_SECONDS:.0f} s")
        if not more:
            if data:
                raise Unacceptable("the request ended in the middle of its head")
            return b"", b""
        data += more
    return data[: end + len(heads.END)], data[end + len(heads.END) :]


def greeted(inner: socket.socket, early: bytes, place: Destination) -> bytes:
    """What a tunnel begins with. On the port of HTTPS that must be TLS for the listed name. Raises `NotTls`."""
    if place.port != HTTPS:
        return early
    deadline = time.monotonic() + HEAD_SECONDS
    while (name := hello.server_name(early)) is None:
        left = deadline - time.monotonic()
        if len(early) > hello.MOST_BYTES or left <= 0:
            raise hello.NotTls("it does not come to the end of its first message")
        inner.settimeout(left)
        more = inner.recv(4096)
        if not more:
            return early
        early += more
    if name != place.host:
        raise hello.NotTls(f"its TLS is meant for {name!r}" if name else "its TLS names no server")
    return early


def say(inner: socket.socket, target: str, status: int, reason: str) -> None:
    """Tell the command, in words, that there is no connection."""
    text = f"referee: no connection to {target}: {reason}\n".encode("ascii", "replace")
    head = f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n"
    with contextlib.suppress(OSError):
        inner.settimeout(1.0)
        inner.sendall(head.encode() + b"Connection: close\r\n\r\n" + text)
