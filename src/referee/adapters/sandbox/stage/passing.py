"""Descriptors passed over a socket."""

from __future__ import annotations

import array
import socket

_MOST = 253  # the kernel's own limit for one message


def receive(wire: socket.socket) -> list[int]:
    """The descriptors of the next request; none if the other side has gone."""
    room = socket.CMSG_LEN(_MOST * array.array("i").itemsize)
    _, ancillary, _, _ = wire.recvmsg(1, room, socket.MSG_CMSG_CLOEXEC)
    numbers = array.array("i")
    for level, kind, raw in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers.frombytes(raw[: len(raw) - len(raw) % numbers.itemsize])
    return list(numbers)


def forward(wire: socket.socket, numbers: list[int]) -> None:
    """Pass the descriptors of a request on."""
    socket.send_fds(wire, [b"r"], numbers)
