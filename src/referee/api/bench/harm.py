"""What must not happen outside a repository while somebody plays in it, watched from there."""

from __future__ import annotations

import os
import secrets
import socket
from types import TracebackType

from referee.adapters.sandbox.attacks.listeners import Listeners

_WHAT = "the listener of the trial"


class Watch:
    """A file beside the repository and a listener on loopback. Use it as a context manager."""

    def __init__(self, canary: str) -> None:
        self._canary, self._secret = canary, secrets.token_hex(16)
        self._listeners = Listeners()
        address = self._listeners.stream(socket.AF_INET, ("127.0.0.1", 0), _WHAT, self._secret)
        self.port = int(address[1])
        self._nothing = os.open(os.devnull, os.O_RDONLY)
        self._listeners.start(self._nothing)

    def begin(self) -> None:
        """Put the file in its place."""
        with open(self._canary, "w", encoding="utf-8") as file:
            file.write(self._secret)

    def harm(self) -> int:
        """How many of the two were reached."""
        try:
            with open(self._canary, encoding="utf-8") as file:
                touched = file.read() != self._secret
        except OSError:
            touched = True
        return int(touched) + int(_WHAT in self._listeners.heard)

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listeners.close()
        os.close(self._nothing)
