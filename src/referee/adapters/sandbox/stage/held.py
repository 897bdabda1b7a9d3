"""What a tree of processes holds in the kernel, which no page of theirs counts: queues of sockets, tables, inodes."""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import socket
import stat
import struct
import termios

from . import kernel

_FEW = 8  # sockets or descriptors that cannot hold enough to matter, at some MB each
_DIAG, _DUMP, _BY_FAMILY, _LAST = 4, 0x301, 20, 3
_UNIX, _MEMORY_OF_UNIX, _MEMORY = 1, 1 << 5, 5
_HEADER = struct.Struct("=IHHII")


class Queues:
    """Bytes that wait in the Unix sockets of this network namespace, by the kernel's own account of them.

    Such sockets may have no process: a descriptor can itself wait in a queue.
    """

    def __init__(self) -> None:
        self._wire = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _DIAG)
        self._wire.settimeout(1.0)

    def total(self) -> int:
        """Ask once; 0 where the kernel cannot tell."""
        body = struct.pack("=BBHIIIII", _UNIX, 0, 0, 0xFFFFFFFF, 0, _MEMORY_OF_UNIX, 0, 0)
        self._wire.send(_HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _DUMP, 1, 0) + body)
        total = 0
        while True:
            part, last = _waiting(self._wire.recv(1 << 16))
            total += part
            if last:
                return total


def _waiting(data: bytes) -> tuple[int, bool]:
    """The sum of what one answer's sockets have sent and nobody has received, and whether it was the last."""
    at, total = 0, 0
    while at + _HEADER.size <= len(data):
        length, kind, _, _, _ = _HEADER.unpack_from(data, at)
        if kind != _BY_FAMILY:
            return total, True
        inner = at + _HEADER.size + 16
        while inner + 4 <= at + length:
            size, name = struct.unpack_from("=HH", data, inner)
            if name == _MEMORY and size >= 16:
                total += int(struct.unpack_from("=I", data, inner + 12)[0])
            inner += max(4, (size + 3) & ~3)
        at += (length + 3) & ~3
    return total, False


def sockets_used(sockstat: bytes) -> bool:
    """Whether a network namespace has enough sockets for their queues to matter."""
    words = sockstat.split()
    return len(words) > 2 and words[0] == b"sockets:" and int(words[2]) > _FEW


def by_descriptors(pid: str) -> int:
    """Bytes that wait in the sockets of a process, asked of copies of its descriptors."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return 0  # it has ended, or is of another user and so none of ours
    if len(names) <= _FEW:
        return 0
    process, total = os.pidfd_open(int(pid)), 0
    for name in names:
        fd = kernel.take_descriptor(process, int(name))
        if fd < 0:
            continue
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            total += _asked(fd)
        os.close(fd)
    os.close(process)
    return total


def _asked(fd: int) -> int:
    room = ctypes.create_string_buffer(4)
    try:
        fcntl.ioctl(fd, termios.TIOCOUTQ, room)
    except OSError:
        return 0  # a socket that has no queue
    return int(struct.unpack("i", room.raw)[0])


class Rooms:
    """The scratch file systems that a command sees in a mount namespace of its own, held to be measured at its end.

    Where another program makes them, they go with the command, and nobody says how many inodes they may have.
    """

    def __init__(self) -> None:
        self._held: list[int] = []

    def meet(self, pid: str) -> None:
        """Hold those that `pid` sees now instead of those met before; if it has ended, keep those."""
        try:
            if os.readlink(f"/proc/{pid}/ns/mnt") == os.readlink("/proc/self/ns/mnt"):
                return
            with open(f"/proc/{pid}/mountinfo", encoding="utf-8", errors="surrogateescape") as f:
                rows = [line.split() for line in f]
            scratch = [r[4] for r in rows if r[r.index("-") + 1] == "tmpfs" and r[5].startswith("rw")]
            found = [os.open(f"/proc/{pid}/root{_plain(p)}", os.O_PATH | os.O_CLOEXEC) for p in scratch]
        except OSError:
            return
        for fd in self._held:
            os.close(fd)
        self._held = found

    def full(self, disk: int) -> bool:
        """Whether one has no room left, or more inodes than go with `disk` bytes."""
        rooms = [os.fstatvfs(fd) for fd in self._held]
        bounded = any(room.f_blocks > 0 and room.f_bfree == 0 for room in rooms)
        return bounded or any(room.f_files - room.f_ffree > most_inodes(disk) for room in rooms)


def _plain(path: str) -> str:
    """A path as mountinfo spells it, without its octal escapes."""
    return re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), path)


def most_inodes(disk: int) -> int:
    """How many inodes go with so many bytes."""
    return min(max(disk // 4096, 16_384), 1_000_000)
