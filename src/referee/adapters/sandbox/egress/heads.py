"""Reading the head of a request to the proxy so strictly that no other reader could see another destination in it."""

from __future__ import annotations

import re

from referee.domain.destination import HTTP, NotAName, host_name, port_number
from referee.domain.value import Value

MOST_BYTES = 16 << 10
END = b"\r\n\r\n"
_MOST_HEADERS = 100
_LINE = re.compile(rb"([A-Z]{1,16}) ([!-~]{1,8000}) HTTP/1\.[01]")
_HEADER = re.compile(rb"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*([ -~\t\x80-\xff]*)")
_URL = re.compile(r"http://([^/?#]*)([/?][^#\\]*)?")
_LENGTH = re.compile(r"0|[1-9][0-9]{0,15}")


class Unacceptable(Exception):
    """A request that is refused as it stands; `asked` is what it seemed to want, for the record."""

    def __init__(self, reason: str, asked: str = "") -> None:
        super().__init__(reason)
        self.asked = asked


class Unreadable(Exception):
    """An answer from outside that is not HTTP; the message does not quote it."""


class Asked(Value):
    """One request. A tunnel has no path; `length` is how many bytes of a body follow the head."""

    method: str
    host: str
    port: int
    path: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    length: int = 0

    @property
    def tunnel(self) -> bool:
        """Whether it asks for a connection, not for a document."""
        return self.method == "CONNECT"

    @property
    def words(self) -> str:
        """Where it wants to go."""
        return f"{self.host}:{self.port}"


def read(head: bytes) -> Asked:
    """The request in `head`, which ends with an empty line. Raises `Unacceptable`."""
    first, *rest = head.removesuffix(END).split(b"\r\n")
    line = _LINE.fullmatch(first)
    if line is None:
        raise Unacceptable("the request line is malformed", _shown(first))
    method, target = line[1].decode(), line[2].decode()
    asked = _shown(line[2])
    try:
        headers = _headers(rest)
        if method == "CONNECT":
            host, port, path = *_authority(target, None), ""
        else:
            host, port, path = _address(target)
        _same_host(headers, host, port, strict=method != "CONNECT")
        length = _length(headers)
        if method == "CONNECT" and length:
            raise Unacceptable("a tunnel has no body")
        return Asked(method=method, host=host, port=port, path=path, headers=headers, length=length)
    except NotAName as wrong:
        raise Unacceptable(str(wrong), asked) from None
    except Unacceptable as wrong:
        raise Unacceptable(str(wrong), asked) from None


def _authority(text: str, default: int | None) -> tuple[str, int]:
    if "@" in text:
        raise NotAName("it holds a user name")
    if text.startswith("["):
        raise NotAName("it is an address; only names are let through")
    host, colon, port = text.partition(":")
    if not colon and default is not None:
        return host_name(host), default
    return host_name(host), port_number(port)


def _address(target: str) -> tuple[str, int, str]:
    if target.lower().startswith("https://"):
        raise Unacceptable("the proxy was asked for an https address; a tunnel (CONNECT) is needed")
    parts = _URL.fullmatch(target)
    if parts is None:
        raise Unacceptable("the request names no http address in full")
    path = parts[2] or "/"
    host, port = _authority(parts[1], HTTP)
    return host, port, path if path.startswith("/") else f"/{path}"


def _headers(lines: list[bytes]) -> tuple[tuple[str, str], ...]:
    if len(lines) > _MOST_HEADERS:
        raise Unacceptable(f"it has more than {_MOST_HEADERS} headers")
    found = []
    for line in lines:
        header = _HEADER.fullmatch(line)
        if header is None:
            raise Unacceptable("a header is malformed")
        found.append((header[1].decode(), header[2].decode("latin-1").strip()))
    return tuple(found)


def _same_host(headers: tuple[tuple[str, str], ...], host: str, port: int, strict: bool) -> None:
    """A second opinion in the headers about where to go is refused, not weighed."""
    said = [value for name, value in headers if name.lower() == "host"]
    if len(said) > 1:
        raise Unacceptable("it has more than one Host header")
    for value in said:
        name, colon, number = value.lower().partition(":")
        if name != host or (strict and colon and number != str(port)):
            raise Unacceptable(f"its Host header {_shown(value.encode('latin-1'))!r} names another host")


def _length(headers: tuple[tuple[str, str], ...]) -> int:
    if any(name.lower() == "transfer-encoding" for name, _ in headers):
        raise Unacceptable("its body has no fixed length (Transfer-Encoding); send a Content-Length")
    said = [value for name, value in headers if name.lower() == "content-length"]
    if len(said) > 1 or not all(_LENGTH.fullmatch(value) for value in said):
        raise Unacceptable("its Content-Length is not one plain number")
    return int(said[0]) if said else 0


def _shown(raw: bytes) -> str:
    """What a command sent, safe to show."""
    text = raw[:200].decode("ascii", "backslashreplace")
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
