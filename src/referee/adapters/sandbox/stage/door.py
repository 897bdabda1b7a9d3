"""The way out, as seen from inside: a socket that listens on loopback here and is accepted from outside."""

from __future__ import annotations

import os
import socket

ADDRESS = ("127.0.0.1", 3128)  # in a network namespace of our own, where nobody can have taken it
_WAITING = 64


def hand_out(wire: int) -> None:
    """Listen, send the listening socket over `wire` and keep neither."""
    with socket.socket(fileno=os.dup(wire)) as out, socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(ADDRESS)
        listener.listen(_WAITING)
        socket.send_fds(out, [b"d"], [listener.fileno()])
    os.close(wire)
