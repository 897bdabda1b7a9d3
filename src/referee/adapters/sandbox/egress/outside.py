"""The world beyond the proxy: names resolved once, addresses that are checked, TLS, and secrets."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from referee.adapters.sandbox.egress.addresses import public
from referee.domain.destination import Destination
from referee.domain.errors import UsageError

CONNECT_SECONDS = 10.0
_LEAST_SECRET = 8  # characters; anything shorter cannot be found again in what comes back


class Unreachable(Exception):
    """A destination that is allowed by name and still not connected to."""


class Network(Protocol):
    """What the proxy needs of the network. Raises `OSError`."""

    def resolve(self, host: str, port: int) -> tuple[str, ...]: ...
    def connect(self, address: str, port: int) -> socket.socket: ...
    def secure(self, wire: socket.socket, host: str) -> socket.socket: ...


class RealNetwork:
    """The machine's own resolver, routes and certificate authorities."""

    def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """All addresses of a name, in the resolver's order."""
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))

    def connect(self, address: str, port: int) -> socket.socket:
        """A connection to an address, unless it is this machine's own."""
        wire = socket.create_connection((address, port), CONNECT_SECONDS)
        if wire.getsockname()[0] == wire.getpeername()[0]:
            wire.close()
            raise OSError("it is an address of this machine")
        return wire

    def secure(self, wire: socket.socket, host: str) -> socket.socket:
        """TLS with the certificate checked against the name."""
        import ssl  # slow to load, and rarely needed

        return ssl.create_default_context().wrap_socket(wire, server_hostname=host)


def no_secret(name: str) -> str | None:
    """For those who hold none."""
    return None


@dataclass(frozen=True)
class Outside:
    """How commands reach the network, and where the values of added headers come from."""

    network: Network = field(default_factory=RealNetwork)
    secret: Callable[[str], str | None] = no_secret

    def values(self, allowed: tuple[Destination, ...]) -> dict[str, str]:
        """The secrets that the destinations need, by variable. Raises `UsageError` for one that cannot be used."""
        found = {}
        for place in allowed:
            if place.injection is not None:
                name = place.injection.variable
                found[name] = _usable(name, self.secret(name), place)
        return found

    def dial(self, place: Destination) -> socket.socket:
        """A connection to one of the addresses that the name has now. Raises `Unreachable` in words.

        The name is looked up once and what was checked is what is connected to, so that a second answer of the
        resolver changes nothing. A name that leads to any address near us is not tried at all.
        """
        try:
            addresses = self.network.resolve(place.host, place.port)
        except OSError as wrong:
            raise Unreachable(f"the name could not be resolved: {wrong}") from None
        if not addresses:
            raise Unreachable("the name has no address")
        if not all(public(a) for a in addresses):
            raise Unreachable("the name leads to an address that is not of the public internet")
        reason = ""
        for address in addresses[:4]:
            try:
                return self.network.connect(address, place.port)
            except OSError as wrong:
                reason = wrong.strerror or str(wrong)
        raise Unreachable(f"no connection: {reason}")


def _usable(name: str, value: str | None, place: Destination) -> str:
    wanted = f"the header for {place.words} takes its value from the environment variable {name}"
    if not value:
        raise UsageError(f"{wanted}, which is not set; set it, or drop that entry of sandbox.inject")
    if not (value.isascii() and value.isprintable()) or len(value) < _LEAST_SECRET:
        raise UsageError(f"{wanted}, whose content cannot be one: {_LEAST_SECRET} or more printable ASCII characters")
    return value
