"""A request over HTTP with an idempotency key, sent once; redirects are told and not followed."""

from __future__ import annotations

import http.client
import re
import ssl
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, field_validator

from referee.adapters.outside.form import NAMED, formed, resolved
from referee.adapters.sandbox.egress import Outside
from referee.adapters.sandbox.egress.outside import Unreachable
from referee.domain.destination import Destination
from referee.domain.outside import Described, Receipt
from referee.domain.risk import Risk
from referee.domain.value import Value

SECONDS = 60.0
SHOWN = 2_000
_SECRET = re.compile(r"authorization|cookie|token|secret|password|api-?key", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN = ("host", "content-length", "connection", "transfer-encoding", "idempotency-key")


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or not text.isascii() or not text.isprintable():
        raise ValueError("give an address in plain ASCII that starts with http:// or https://")
    if parts.username or parts.password or " " in text:
        raise ValueError("an address holds no password and no space; name a secret in a header as env:NAME")
    return text


class HttpRequest(Value):
    """One request. A header's value may be `env:NAME`: what that variable holds is put in when it is sent."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    url: Annotated[str, AfterValidator(_url)]
    headers: Mapping[str, str] = {}
    body: str = ""

    @field_validator("headers")
    @classmethod
    def _plain(cls, headers: Mapping[str, str]) -> Mapping[str, str]:
        for name, value in headers.items():
            if not _NAME.fullmatch(name) or name.lower() in _OWN or not value.isprintable() or not value.isascii():
                raise ValueError(f"the header {name!r} is not one that can be set")
            if _SECRET.search(name) and not value.startswith(NAMED):
                raise ValueError(f"the header {name} looks like a secret; name its variable instead: {name}: env:NAME")
        return headers


class HttpTool:
    """`Idempotency-Key` lets a server recognise a request that comes twice; this one is never sent twice anyway."""

    def __init__(self, secret: Callable[[str], str | None], outside: Outside | None = None) -> None:
        self._secret, self._outside = secret, outside or Outside()

    def describe(self, arguments: Mapping[str, Any]) -> Described:
        """GET and HEAD only read, unless they carry a secret or a body; all else has no way back."""
        asked = formed(HttpRequest, arguments, "http")
        reads = asked.method in ("GET", "HEAD") and not asked.body
        size = len(asked.body.encode())
        host = urlsplit(asked.url).hostname or ""
        secret = any(value.startswith(NAMED) for value in asked.headers.values())
        rows = [f"{asked.method} {asked.url}", *(f"{name}: {value}" for name, value in asked.headers.items())]
        return Described(
            risk=Risk.EGRESS if reads and not secret else Risk.IRREVERSIBLE,
            summary=f"{asked.method} {asked.url}, {size} bytes",
            detail="\n".join(rows) + (f"\n\n{asked.body}" if asked.body else ""),
            impact=f"{'reads from' if reads else 'may change anything at'} {host}; {size} bytes leave this machine",
            host=_place(asked.url),
        )

    def call(self, arguments: Mapping[str, Any], key: str, seconds: float, *, signed: bool) -> Receipt:
        """Before anything is sent, a fault is a failure without effect; afterwards the effect is unknown."""
        asked = formed(HttpRequest, arguments, "http")
        headers = {name: resolved(value, self._secret) for name, value in asked.headers.items()}
        parts = urlsplit(asked.url)
        try:
            connection = self._connected(asked.url, min(SECONDS, seconds), anywhere=signed)
        except Unreachable as why:
            mend = "to read from there, take the name out of sandbox.allow_domains and sign the request"
            return Receipt(
                status="failed", said=f"no connection to {parts.hostname} without a signature: {why}; {mend}"
            )
        except (OSError, ValueError) as error:
            return Receipt(status="failed", said=f"no connection to {parts.hostname}: {error}")
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request(asked.method, path, asked.body.encode() or None, {**headers, "Idempotency-Key": key})
            answer = connection.getresponse()
            said = answer.read(SHOWN).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            return _unknown(asked, key, f"the answer did not come: {error or type(error).__name__}")
        finally:
            connection.close()
        return _receipt(asked, key, answer.status, said)

    def _connected(self, url: str, timeout: float, *, anywhere: bool) -> http.client.HTTPConnection:
        """A connection. Unless it may lead `anywhere`, the address that was looked at is the one that is taken."""
        parts, context = urlsplit(url), ssl.create_default_context()
        assert parts.hostname is not None  # the form demands it
        secure = parts.scheme == "https"
        connection = (
            http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=context)
            if secure
            else http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
        )
        if anywhere:
            connection.connect()
            return connection
        wire = self._outside.dial(Destination(host=parts.hostname, port=connection.port))
        wire.settimeout(timeout)
        connection.sock = context.wrap_socket(wire, server_hostname=parts.hostname) if secure else wire
        return connection

    def look(self, arguments: Mapping[str, Any], key: str) -> Receipt | None:
        """Nobody but the server knows."""
        return _unknown(formed(HttpRequest, arguments, "http"), key, "the run was cut off while it was sent")


def _place(url: str) -> str:
    """Where it leads, as domains are listed: the port only where it is not that of TLS."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.hostname}" if port == 443 else f"{parts.hostname}:{port}"


def _receipt(asked: HttpRequest, key: str, status: int, body: str) -> Receipt:
    facts = {"status": str(status), "body": body}
    if 200 <= status < 300:
        return Receipt(status="done", said=f"{asked.method} {asked.url} was answered with {status}", facts=facts)
    if 300 <= status < 500:
        return Receipt(status="failed", said=f"the server refused with {status}: {body[:300]}", facts=facts)
    return _unknown(asked, key, f"the server failed with {status}: {body[:300]}").model_copy(update={"facts": facts})


def _unknown(asked: HttpRequest, key: str, said: str) -> Receipt:
    check = (
        f"at {urlsplit(asked.url).hostname} whether {asked.method} {asked.url} with Idempotency-Key {key} took effect"
    )
    return Receipt(status="unknown", said=said, check=check)
