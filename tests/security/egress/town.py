"""What lies outside for these tests: servers on loopback that play every host, and a proxy that makes every mistake."""

from __future__ import annotations

import re
import socket
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote

from referee.adapters.sandbox.egress import Door, Outside
from referee.domain.destination import Destination
from referee.ports import Command, Contact, Limits

PUBLIC, ELSEWHERE, NEAR = "93.184.216.34", "1.1.1.1", "169.254.169.254"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer"


class Server:
    """Listens on loopback, remembers what it was sent, answers each piece with `answer`."""

    def __init__(self, answer: bytes = ANSWER, close: bool = True) -> None:
        self.answer, self.close_after = answer, close
        self.heard: list[bytearray] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                wire = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._one, args=(wire,), daemon=True).start()

    def _one(self, wire: socket.socket) -> None:
        heard = bytearray()
        self.heard.append(heard)
        with wire:
            while True:
                try:
                    data = wire.recv(65536)
                    if not data:
                        return
                    heard += data
                    wire.sendall(self.answer)
                except OSError:
                    return
                if self.close_after:
                    return


@dataclass
class Town:
    """A network whose resolver and routes are made up. Names not in `names` lead to `ELSEWHERE`."""

    good: Server
    evil: Server
    names: dict[str, list[str]] = field(default_factory=dict)
    resolved: list[str] = field(default_factory=list)
    connected: list[str] = field(default_factory=list)

    def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """The next answer for the name; the last one stays."""
        self.resolved.append(host)
        answers = self.names.get(host, [ELSEWHERE])
        return tuple((answers.pop(0) if len(answers) > 1 else answers[0]).split())

    def connect(self, address: str, port: int) -> socket.socket:
        self.connected.append(address)
        server = self.good if address == PUBLIC else self.evil
        return socket.create_connection(("127.0.0.1", server.port), 5)

    def secure(self, wire: socket.socket, host: str) -> socket.socket:
        return wire


@contextmanager
def a_town(good: Server | None = None) -> Iterator[Town]:
    town = Town(good=good or Server(), evil=Server(), names={"good.example.org": [PUBLIC]})
    try:
        yield town
    finally:
        town.good.close()
        town.evil.close()


@dataclass
class Open:
    """A door with its listener here on loopback, as if this were the inside."""

    address: tuple[str, int]
    contacts: tuple[Contact, ...] = ()

    def say(self, data: bytes, more: bytes = b"", seconds: float = 10.0) -> bytes:
        """Everything that comes back; `more` is sent after the first answer."""
        with socket.create_connection(self.address, 5) as wire:
            wire.settimeout(seconds)
            back = b""
            try:
                wire.sendall(data)
                if more:
                    back = wire.recv(65536)
                    wire.sendall(more)
                while piece := wire.recv(65536):
                    back += piece
            except OSError:
                return back
            return back


@contextmanager
def a_door(outside: Outside, *allowed: Destination, **limits: int) -> Iterator[Open]:
    command = Command(argv=("true",), egress=allowed, limits=Limits(**limits))
    with Door(outside, command) as door:
        listener = socket.create_server(("127.0.0.1", 0))
        opened = Open(listener.getsockname())
        with socket.socket(fileno=door.hand_over()) as wire:
            socket.send_fds(wire, [b"d"], [listener.fileno()])
        listener.close()
        yield opened
    opened.contacts = door.contacts


class Careless:
    """The control: a proxy with the mistakes that allow-lists are known for, in front of the same town."""

    def __init__(self, town: Town, allowed: str) -> None:
        self._town, self._allowed = town, allowed
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.open = Open(self._listener.getsockname())
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                wire = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._one, args=(wire,), daemon=True).start()

    def _one(self, wire: socket.socket) -> None:
        with wire:
            head = wire.recv(65536)
            host = self._host(head.decode("utf-8", "replace"))
            if host is None or self._town.resolve(host, 0)[0] == NEAR:
                wire.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
                return
            with self._town.connect(self._town.resolve(host, 0)[0], 0) as outer:
                if head.startswith(b"CONNECT"):
                    wire.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    head = wire.recv(65536)
                outer.sendall(head)
                wire.sendall(outer.recv(65536))

    def _host(self, head: str) -> str | None:
        """Compares one reading of the request with the list, and uses another."""
        target = re.split(r"[ \r\n]+", head)[1]
        checked = target.removeprefix("http://").partition("/")[0]
        if self._allowed not in checked and not re.fullmatch(r"[\d.xa-f\[\]:]+", checked.lower()):
            return None
        said = re.search(r"(?i)^host: *([^\r\n:]+)", head, re.MULTILINE)
        used = said[1] if said else checked
        used = unicodedata.normalize("NFKC", unquote(used)).split("\0")[0].rpartition("@")[2]
        return re.sub(r":\d+$", "", used).rstrip(".").lower()
