"""The descriptors of one request: pipes for what the command writes, a control socket, the request itself."""

from __future__ import annotations

import os
import secrets
import socket
from types import TracebackType
from typing import TypeVar

from referee.adapters.sandbox.stage.passing import forward
from referee.adapters.sandbox.streams import Capped, Stream, Whole
from referee.ports import Limits

_KEY_BYTES = 32
_S = TypeVar("_S", Capped, Whole)


class Descriptors:
    """Everything one request needs, ours and theirs; leaving the context closes what is still open.

    `owner` is the user the command runs as, if not ourselves: it may then open its pipes again by name, as
    `/dev/stdout` does.
    """

    def __init__(self, body: bytes, limits: Limits, owner: tuple[int, int] | None) -> None:
        self._owner, self._limits = owner, limits
        self._theirs: list[int] = []
        self._ours: list[int] = []
        self.streams: dict[int, Stream] = {}
        self.key = b""
        self.channel = Whole(0)
        self._theirs.append(file_with(body))
        self.control, there = socket.socketpair()
        self._theirs.append(there.detach())
        self.stdout = self.add_stream(Capped(limits.output_bytes, "stdout"))
        self.stderr = self.add_stream(Capped(limits.output_bytes, "stderr"))

    def add_channel(self) -> None:
        """A pipe with a fresh key to read, and one for frames."""
        self.key = secrets.token_bytes(_KEY_BYTES)
        out, into = self._pipe()
        os.write(into, self.key)
        os.close(into)
        self._theirs.append(out)
        self.channel = self.add_stream(Whole(self._limits.channel_bytes))

    def add_input(self, descriptor: int) -> None:
        """Hand over what becomes the command's standard input; the caller keeps its own descriptor."""
        copy = os.dup(descriptor)
        if self._owner is not None:
            os.fchown(copy, *self._owner)
        self._theirs.append(copy)

    def add(self, there: int) -> None:
        """Hand over one more."""
        self._theirs.append(there)

    def send(self, jobs: socket.socket) -> None:
        """Hand their side over, and let go of it."""
        forward(jobs, self._theirs)
        _close(self._theirs)

    def add_stream(self, stream: _S) -> _S:
        """Hand over the writing end of a new pipe; `stream` is fed from the other."""
        out, into = self._pipe()
        self._theirs.append(into)
        self._ours.append(out)
        self.streams[out] = stream
        return stream

    def __enter__(self) -> Descriptors:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _close(self._theirs)
        _close(self._ours)
        self.control.close()

    def _pipe(self) -> tuple[int, int]:
        out, into = os.pipe()
        if self._owner is not None:
            os.fchown(into, *self._owner)
        return out, into


def file_with(body: bytes) -> int:
    """A descriptor of an unnamed file that holds `body`."""
    fd = os.memfd_create("request")
    rest = memoryview(body)
    while rest:
        rest = rest[os.write(fd, rest) :]
    return fd


def _close(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())
