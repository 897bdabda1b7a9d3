"""Who holds a lease: a process, named so that neither a reused id, a reboot nor a container confuses it with another.

A process id means something only in one pid namespace of one boot of one machine, so all of these are in the name.
"""

from __future__ import annotations

import os
import re
import socket
from typing import NamedTuple

_OWNER = re.compile(
    r"process (?P<pid>\d+) on (?P<host>\S+) "
    r"\(boot (?P<boot>\S+), namespace (?P<space>\S+), machine (?P<machine>\S+), started (?P<started>\S+)\)"
)
UNKNOWN = "unknown"


class _Owner(NamedTuple):
    pid: int
    host: str
    boot: str
    space: str
    machine: str
    started: str


def me() -> str:
    """This process, as an owner of leases; words that a person can read."""
    o = _myself()
    return f"process {o.pid} on {o.host} (boot {o.boot}, namespace {o.space}, machine {o.machine}, started {o.started})"


def alive(owner: str) -> bool | None:
    """Whether the owner still runs; None if that cannot be known from here (another machine or container)."""
    parts = _OWNER.fullmatch(owner)
    if parts is None:
        return None
    them, here = _Owner(int(parts["pid"]), *parts.group("host", "boot", "space", "machine", "started")), _myself()
    if UNKNOWN in (them.boot, here.boot):
        return None
    if them.boot != here.boot:
        same = UNKNOWN not in (here.machine, here.host) and (them.machine, them.host) == (here.machine, here.host)
        return False if same else None  # this machine has started anew since; about another one nothing is known
    if UNKNOWN in (them.space, here.space) or them.space != here.space:
        return None  # the id means another process there, or none
    return None if them.started == UNKNOWN else them.started == _started(them.pid)


def brief(owner: str) -> str:
    """An owner in few words."""
    return owner.partition(" (boot ")[0]


def _myself() -> _Owner:
    return _Owner(
        pid=os.getpid(),
        host=socket.gethostname().replace(" ", "-") or UNKNOWN,
        boot=_word("/proc/sys/kernel/random/boot_id"),
        space=_namespace(),
        machine=_word("/etc/machine-id"),
        started=_started(os.getpid()),
    )


def _started(pid: int) -> str:
    """Clock ticks since boot at which a process started (field 22 of proc(5) stat); not known if there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            state, *_ = fields = file.read().rpartition(")")[2].split()
    except OSError:
        return UNKNOWN
    return UNKNOWN if state in "ZX" else fields[19]  # a zombie does nothing any more


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").replace(" ", "")
    except OSError:
        return UNKNOWN


def _word(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().split()[0]
    except (OSError, IndexError):
        return UNKNOWN
