"""What a process gives up before it runs anything that is not ours."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import socket
import struct

from . import kernel, seccomp
from .request import Bounds

_SIOCSIFFLAGS, _IFF_UP, _IFF_LOOPBACK, _IFF_RUNNING = 0x8914, 0x1, 0x8, 0x40
_OURS = 2  # the supervisor and init count towards the limit on processes


def become(uid: int, gid: int) -> None:
    """Stop being root, for good."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    kernel.set_dumpable(True)  # or what is in /proc/self belongs to root


def enter_namespaces() -> None:
    """Leave every namespace of the host; children start in a new pid namespace as its init."""
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(kernel.ALL_NAMESPACES)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as f:
            f.write(text)


def loopback_up() -> None:
    """Bring up `lo`, which brings its addresses with it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        flags = _IFF_UP | _IFF_LOOPBACK | _IFF_RUNNING
        fcntl.ioctl(s, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags))


def give_up(filtered: bool) -> None:
    """Drop what privileges are left; with `filtered`, put the system call filter on."""
    kernel.set_no_new_privileges()
    kernel.drop_capabilities()
    if filtered:
        seccomp.install()


def limit(bounds: Bounds, own_count: bool = True) -> None:
    """Set this process's resource limits, never above what it already has.

    Without a user namespace of our own (`own_count`), the limit on processes would count all of the user's.
    """
    cpu = None if bounds.cpu is None else max(1, int(bounds.cpu + 0.999))
    wanted = [
        (resource.RLIMIT_FSIZE, bounds.file),
        (resource.RLIMIT_NOFILE, bounds.open_files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ]
    if own_count:
        wanted.append((resource.RLIMIT_NPROC, bounds.processes + _OURS))
    for which, value in wanted:
        _lower(which, value, value)
    if cpu is not None:
        _lower(resource.RLIMIT_CPU, cpu, cpu + 1)
    if bounds.address_space is not None:
        _lower(resource.RLIMIT_AS, bounds.address_space, bounds.address_space)


def _lower(which: int, soft: int, hard: int) -> None:
    ceiling = resource.getrlimit(which)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(which, (soft, hard))


def arrange(descriptors: list[int]) -> None:
    """Make `descriptors` 0, 1, 2, … and close everything else. None of them may be below 10."""
    for number, fd in enumerate(descriptors):
        os.dup2(fd, number)
    for name in os.listdir("/proc/self/fd"):
        if int(name) >= len(descriptors):
            with contextlib.suppress(OSError):
                os.close(int(name))


def offer_to_the_oom_killer() -> None:
    """If the machine runs out of memory, the sandbox goes first."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="utf-8") as f:
        f.write("1000")
