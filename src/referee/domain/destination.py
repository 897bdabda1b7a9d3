"""Where a sandboxed command may connect to, by exact name and port; anything that is not plainly a name is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import field_validator

from referee.domain.value import Value

HTTPS, HTTP = 443, 80
_LONGEST = 253
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# What frames or routes a request is the proxy's own to say.
_OWN_HEADERS = frozenset(
    ("host", "content-length", "connection", "transfer-encoding", "upgrade", "te", "trailer", "expect",
     "accept-encoding")
)  # fmt: skip


class NotAName(ValueError):
    """A text that is no host name, no port, or no destination; the message says why."""


def host_name(text: str) -> str:
    """`text` in lower case if it is a full host name in plain ASCII. Raises `NotAName` for all else.

    An address in any notation is none: programs disagree about what `127.1`, `0x7f000001` or `[::1]` mean.
    """
    if not text or len(text) > _LONGEST:
        raise NotAName("it is empty or too long for a host name")
    name = text.lower() if text.isascii() else text
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]) or "[" in name or ":" in name:
        raise NotAName("it is an address; only names are let through")
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise NotAName("it has characters that a host name in plain ASCII does not have")
    if len(labels) < 2:
        raise NotAName("it is not a full name such as example.org")
    return name


def port_number(text: str) -> int:
    """The port that `text` writes in plain decimal. Raises `NotAName` for all else."""
    if not (text.isascii() and _PORT.fullmatch(text)) or int(text) > 0xFFFF:
        raise NotAName("its port is not a plain number from 1 to 65535")
    return int(text)


class Injection(Value):
    """A header that the proxy adds outside. Its value is `form` around what the variable `variable` holds there."""

    header: str
    variable: str
    form: str = "{}"

    @field_validator("header")
    @classmethod
    def _header(cls, text: str) -> str:
        if not _TOKEN.fullmatch(text) or text.lower() in _OWN_HEADERS:
            raise ValueError(f"{text!r} is no header that can be added; use one such as Authorization")
        return text

    @field_validator("form")
    @classmethod
    def _form(cls, text: str) -> str:
        if text.count("{}") != 1 or not (text.isascii() and text.isprintable()):
            raise ValueError('write {} once, where the value goes, as in "Bearer {}"')
        return text


class Destination(Value):
    """One name and port that may be connected to. With `injection` the proxy itself speaks TLS to it."""

    host: str
    port: int = HTTPS
    injection: Injection | None = None

    @property
    def words(self) -> str:
        """The destination as `host:port`."""
        return f"{self.host}:{self.port}"


def destination(text: str) -> Destination:
    """`example.org` or `example.org:8443`. Raises `NotAName` with the reason."""
    host, colon, port = text.partition(":")
    try:
        return Destination(host=host_name(host), port=port_number(port) if colon else HTTPS)
    except NotAName as wrong:
        raise NotAName(f"{text!r} is no destination: {wrong}") from None


def tunnelled(allowed: Iterable[Destination], host: str, port: int) -> Destination | None:
    """The destination that a tunnel to `host` and `port` leads to, if it is allowed."""
    return next((d for d in allowed if (d.host, d.port) == (host, port)), None)


def plainly(allowed: Iterable[Destination], host: str, port: int) -> Destination | None:
    """The destination of a request for `http://host:port/`; for port 80, one with an injection will do."""
    every = tuple(allowed)
    exact = tunnelled(every, host, port)
    if exact is not None or port != HTTP:
        return exact
    return next((d for d in every if d.host == host and d.injection is not None), None)
