"""What listens on the host while a sandbox is under attack: each gives its secret to whoever comes, and counts."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from typing import Any


class Listeners:
    """Sockets of the host, served by a thread. `heard` names those that somebody spoke to."""

    def __init__(self) -> None:
        self.heard: set[str] = set()
        self._open: dict[socket.socket, tuple[str, bytes]] = {}
        self._out, self._into = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def stream(self, family: socket.AddressFamily, address: Any, what: str, secret: str) -> Any:
        """Listen at `address`; None if this machine has no such family."""
        return self._add(socket.SOCK_STREAM, family, address, (what, secret))

    def datagram(self, family: socket.AddressFamily, address: Any, what: str) -> Any:
        """Receive at `address`."""
        return self._add(socket.SOCK_DGRAM, family, address, (what, ""))

    def _add(self, kind: socket.SocketKind, family: socket.AddressFamily, address: Any, said: tuple[str, str]) -> Any:
        try:
            listener = socket.socket(family, kind)
            listener.bind(address)
        except OSError:
            return None
        if kind == socket.SOCK_STREAM:
            listener.listen(8)
        if family == socket.AF_UNIX and not address.startswith("\0"):
            os.chmod(address, 0o777)
        self._open[listener] = (said[0], said[1].encode())
        return listener.getsockname()

    def start(self, descriptor: int) -> None:
        """Serve from now on; who connects to a named or abstract socket is handed `descriptor` as well."""
        self._handed = descriptor
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        os.write(self._into, b"x")
        self._thread.join()
        for listener in self._open:
            listener.close()
        os.close(self._into)
        os.close(self._out)

    def _serve(self) -> None:
        while True:
            ready, _, _ = select.select([self._out, *(listener.fileno() for listener in self._open)], [], [])
            if self._out in ready:
                return
            for listener in self._open:
                if listener.fileno() in ready:
                    self._answer(listener)

    def _answer(self, listener: socket.socket) -> None:
        what, secret = self._open[listener]
        self.heard.add(what)
        with contextlib.suppress(OSError):
            if listener.type == socket.SOCK_DGRAM:
                listener.recv(4096)
                return
            with listener.accept()[0] as caller:
                if caller.family == socket.AF_UNIX:
                    socket.send_fds(caller, [secret], [self._handed])
                else:
                    caller.sendall(secret)
