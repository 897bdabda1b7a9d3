"""Requests for documents: one per connection, written anew outside, with a header added where one is configured."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Mapping

from referee.adapters.sandbox.egress.heads import Asked, Unreadable
from referee.adapters.sandbox.egress.mask import Mask
from referee.adapters.sandbox.egress.record import Tally
from referee.adapters.sandbox.egress.relay import IDLE_SECONDS
from referee.domain.destination import HTTP, HTTPS, Destination

_CHUNK = 1 << 16
# Between two neighbours only (RFC 9110, 7.6.1), or said by us.
_HOP = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
     "transfer-encoding", "upgrade", "host", "content-length", "expect")
)  # fmt: skip
Wire = socket.socket


To = tuple[Destination, Mapping[str, str], Tally]


def forward(inner: Wire, outer: Wire, asked: Asked, early: bytes, to: To) -> None:
    """Send the request on and its answer back. Raises `OSError`, `Unreadable` or `Spent`.

    The connection outside carries this one request: what a command sends beyond its body goes nowhere.
    """
    try:
        _forward(inner, outer, asked, early, to)
    except (http.client.HTTPException, ValueError) as wrong:
        raise Unreadable(f"the answer could not be read ({type(wrong).__name__})") from None


def _forward(inner: Wire, outer: Wire, asked: Asked, early: bytes, to: To) -> None:
    place, secrets, tally = to
    added, mask = _added(place, secrets)
    for wire in (inner, outer):
        wire.settimeout(IDLE_SECONDS)
    connection = http.client.HTTPConnection(place.host, place.port)
    connection.sock = outer
    _send(connection, inner, asked, early, (added, tally))
    answer = connection.getresponse()
    head = _answer_head(answer, asked, mask)
    tally.add(received=len(head))
    inner.sendall(head)
    while data := answer.read1(_CHUNK):
        tally.add(received=len(data))
        inner.sendall(mask.feed(data))
    inner.sendall(mask.rest())


def _added(place: Destination, secrets: Mapping[str, str]) -> tuple[dict[str, str], Mask]:
    if place.injection is None:
        return {}, Mask(())
    secret = secrets[place.injection.variable]
    return {place.injection.header: place.injection.form.replace("{}", secret)}, Mask((secret,))


def _send(
    connection: http.client.HTTPConnection, inner: Wire, asked: Asked, early: bytes, more: tuple[dict[str, str], Tally]
) -> None:
    added, tally = more
    ours = {name.lower() for name in added}
    tally.add(sent=len(asked.path) + sum(len(name) + len(value) for name, value in asked.headers))
    plain = HTTPS if added else HTTP
    host = connection.host if connection.port == plain else f"{connection.host}:{connection.port}"
    connection.putrequest(asked.method, asked.path, skip_host=True, skip_accept_encoding=True)
    connection.putheader("Host", host)
    connection.putheader("Connection", "close")
    if added:  # what is compressed cannot be searched for the secret
        connection.putheader("Accept-Encoding", "identity")
        ours |= {"accept-encoding", "range"}
    dropped = _HOP | ours | _named(asked.headers)
    for name, value in asked.headers:
        if name.lower() not in dropped:
            connection.putheader(name, value.encode("latin-1"))
    for name, value in added.items():
        connection.putheader(name, value)
    if asked.length or any(name.lower() == "content-length" for name, _ in asked.headers):
        connection.putheader("Content-Length", str(asked.length))
    if any(name.lower() == "expect" for name, _ in asked.headers):
        inner.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    connection.endheaders()
    _send_body(connection, inner, early[: asked.length], asked.length, tally)


def _send_body(connection: http.client.HTTPConnection, inner: Wire, early: bytes, length: int, tally: Tally) -> None:
    data, left = early, length
    while left:
        if not data:
            data = inner.recv(min(_CHUNK, left))
            if not data:
                raise ConnectionError("the request ended in the middle of its body")
        tally.add(sent=len(data))
        try:
            connection.send(data)
        except ConnectionError:
            return  # it may have answered before the end of the body
        left -= len(data)
        data = b""


def _named(headers: tuple[tuple[str, str], ...]) -> set[str]:
    """Headers that a Connection header declares to be for the proxy alone."""
    said = (value for name, value in headers if name.lower() == "connection")
    return {part.strip().lower() for value in said for part in value.split(",")}


def _answer_head(answer: http.client.HTTPResponse, asked: Asked, mask: Mask) -> bytes:
    """The head of the answer. The end of its body is its length if it had one, else the end of the connection."""
    lines = [f"HTTP/1.1 {answer.status} {answer.reason}"]
    lines += [f"{name}: {value}" for name, value in answer.getheaders() if name.lower() not in _HOP]
    length = answer.getheader("Content-Length")
    if length is not None and not answer.chunked and length.isdigit():
        lines.append(f"Content-Length: {length}")
    lines.append("Connection: close")
    clean = (mask.text(line).replace("\r", " ").replace("\n", " ") for line in lines)
    return "\r\n".join(clean).encode("latin-1", "replace") + b"\r\n\r\n"
