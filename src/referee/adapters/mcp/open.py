"""Connecting to a server: a command runs in the sandbox, an address must be among the listed domains."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx2
from mcp.client.streamable_http import streamable_http_client

from referee.adapters.mcp.peer import SdkPeer
from referee.adapters.mcp.transport import Streams, inside
from referee.adapters.sandbox.egress import RealNetwork
from referee.adapters.sandbox.egress.addresses import public
from referee.domain.destination import HTTP, HTTPS, Destination
from referee.domain.errors import UsageError, WorldFault
from referee.domain.peers import Server
from referee.ports import Command, Sandbox

Secret = Callable[[str], str | None]
_SECONDS = 300.0


def in_sandbox(server: Server, sandbox: Sandbox, command: Command) -> SdkPeer:
    """Start the server's command inside; `command` says with what view and limits."""
    argv = (server.command, *server.args)
    env = {**command.env, **server.env}
    said: list[str] = []
    return SdkPeer(server, inside(sandbox, command.model_copy(update={"argv": argv, "env": env}), said), said)


def over_http(server: Server, listed: Sequence[Destination], secret: Secret | None) -> SdkPeer:
    """Connect to the server's address; no header is added without `secret`.

    Raises `UsageError` unless the person has listed its host, and it is on the public internet.
    """
    parts = urlsplit(server.url)
    port = parts.port or (HTTPS if parts.scheme == "https" else HTTP)
    place = next((d for d in listed if d.host == parts.hostname and d.port == port), None)
    if place is None:
        raise UsageError(
            f"the MCP server {server.name} is at {parts.hostname}:{port}, which is not listed; "
            f"add it to sandbox.allow_domains in your own file, or leave the server out"
        )
    headers = _headers(place, parts.scheme, secret) if secret is not None else {}
    return SdkPeer(server, _transport(server.url, headers, _address(place)))


def _address(place: Destination) -> str:
    """The address that is connected to: looked up once, so that a second answer of the resolver changes nothing."""
    try:
        found = RealNetwork().resolve(place.host, place.port)
    except OSError as wrong:
        raise WorldFault(f"the name {place.host} could not be resolved: {wrong}") from wrong
    if not found or not all(map(public, found)):
        raise UsageError(f"{place.host} leads to an address that is not of the public internet; it is not connected to")
    return found[0]


def _headers(place: Destination, scheme: str, secret: Secret) -> dict[str, str]:
    """The header that is added for a listed domain, over TLS only."""
    added = place.injection
    if added is None:
        return {}
    if scheme != "https":
        raise UsageError(f"a header is only added over TLS; give {place.host} an address that begins with https://")
    value = secret(added.variable)
    if value is None:
        raise UsageError(f"the variable {added.variable} for {place.host} is not set")
    return {added.header: added.form.format(value)}


@asynccontextmanager
async def _transport(url: str, headers: dict[str, str], address: str = "") -> AsyncGenerator[Streams, None]:
    async def led(request: httpx2.Request) -> None:
        if address:
            request.extensions = {**request.extensions, "sni_hostname": request.url.host}
            request.url = request.url.copy_with(host=address)

    # The machine's proxy settings are not the person's word about where to connect to.
    timeout = httpx2.Timeout(30.0, read=_SECONDS)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, trust_env=False, event_hooks={"request": [led]}) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams
