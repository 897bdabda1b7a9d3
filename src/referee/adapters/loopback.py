"""Whose program is at the other end of a connection on this machine, as the kernel tells."""

from __future__ import annotations

import errno
import os
import socket
import struct

_DIAG, _BY_FAMILY, _REQUEST, _ERROR = 4, 20, 1, 2  # netlink's family, and its types of messages
_ESTABLISHED = 1
_HEADER, _ASKED, _ENDS, _TOLD = "=IHHII", "=BBBxI", "!HH4s12x4s12x", "=BB2x48x12xII"
_NO_COOKIE = b"\0" * 4 + b"\xff" * 8
_LONGEST = 8_192  # bytes of an answer

Address = tuple[str, int]


def told() -> bool:
    """Whether this system tells whose a connection is."""
    nobody = ("127.0.0.1", 1)
    try:
        _owner(nobody, nobody)
    except OSError:
        return False
    return True


def ours(peer: Address, here: Address) -> bool:
    """Whether the connection from `peer` to `here`, both IPv4, is of this user or root; True where it is not told.

    A program that has hung up is nobody's: the kernel gives what it left behind to root.
    """
    return _owner(peer, here) in (os.geteuid(), 0) if told() else True


def _owner(peer: Address, here: Address) -> int | None:
    """The user whose socket stands at `peer`. Raises `OSError` where the kernel does not tell."""
    ends = struct.pack(_ENDS, peer[1], here[1], socket.inet_aton(peer[0]), socket.inet_aton(here[0]))
    asked = struct.pack(_ASKED, socket.AF_INET, socket.IPPROTO_TCP, 0, 0xFFFFFFFF) + ends + _NO_COOKIE
    head = struct.pack(_HEADER, struct.calcsize(_HEADER) + len(asked), _BY_FAMILY, _REQUEST, 1, 0)
    if not hasattr(socket, "AF_NETLINK"):
        raise OSError(errno.EAFNOSUPPORT, "this system has no netlink")
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _DIAG) as kernel:
        kernel.settimeout(5)
        kernel.connect((0, 0))
        kernel.send(head + asked)
        answer = kernel.recv(_LONGEST)
    start = struct.calcsize(_HEADER)
    if struct.unpack_from(_HEADER, answer)[1] == _ERROR:
        code = -struct.unpack_from("=i", answer, start)[0]
        if code != errno.ENOENT:
            raise OSError(code, os.strerror(code))
        return None
    _, state, uid, inode = struct.unpack_from(_TOLD, answer, start)
    return int(uid) if state == _ESTABLISHED and inode else None
