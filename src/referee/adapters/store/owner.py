"""Who holds a lease: host, process id and when the process started, so that a reused id is not mistaken for it."""

from __future__ import annotations

import os
import socket


def me() -> str:
    """This process, as an owner of leases."""
    return f"process {os.getpid()} (started {_started(os.getpid())}) on {socket.gethostname()}"


def alive(owner: str) -> bool:
    """Whether the owner may still be running; True when that cannot be known (another host)."""
    try:
        pid = int(owner.split()[1])
    except (IndexError, ValueError):
        return True
    if not owner.endswith(f" on {socket.gethostname()}"):
        return True
    return f"(started {_started(pid)})" in owner


def _started(pid: int) -> str:
    """Clock ticks since boot at which a process started (field 22 of proc(5) stat); empty if there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[19]
    except OSError:
        return ""
