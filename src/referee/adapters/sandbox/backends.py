"""All backends: how each is opened, what it claims, and in plain words what it does not claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from referee.adapters.sandbox.bare import BareSandbox
from referee.adapters.sandbox.bubblewrap import BubblewrapSandbox
from referee.adapters.sandbox.container import ContainerSandbox
from referee.adapters.sandbox.egress import Outside
from referee.adapters.sandbox.landlocked import LandlockSandbox
from referee.adapters.sandbox.userns import UsernsSandbox
from referee.ports import Level, Sandbox

ASPECTS: Mapping[str, tuple[str, ...]] = {
    "files": (
        "host_files", "protection", "host_names", "workspace", "scratch", "temporary", "beside", "modes", "mounts"
    ),
    "network": ("host_sockets", "network", "families", "loopback"),
    "processes": (
        "memory_of_others", "signals", "privileges", "environment", "secrecy", "user", "processes", "concurrency"
    ),
    "memory": ("memory",),
    "cpu": ("cpu",),
    "disk": ("disk",),
    "devices": ("devices",),
    "time": ("wall",),
}  # fmt: skip
"""What a person asks about, and the probes that answer; the first is the one without which there is nothing."""

PROBED: Mapping[str, str] = {
    "files": "reads, changes and deletes a file of the host and protected files; writes where writing must work",
    "network": "connects to listeners of the host (TCP, abstract and named sockets) and outside; serves on loopback",
    "processes": "looks for, signals and reads processes and the environment of the host; starts a pool of its own",
    "memory": "holds more and more until it is killed; watched: measured every 20 ms, hard: the kernel refuses",
    "cpu": "computes without end until it is killed",
    "disk": "writes more than it may",
    "devices": "opens devices and makes one",
    "time": "sleeps, with a child, past its time",
}
"""What the probes of each aspect do inside."""

_LANDLOCK_LACKS = {
    "host_names": "whether a path of the host exists, and its size and times, can be found out",
    "workspace": "the repository is not at its own path but in a private copy",
    "temporary": "the shared temporary folders cannot be used; what TMPDIR names can",
    "beside": "beside a protected path no new file can be made",
    "modes": "modes, owners and times of files stay as they are",
    "processes": "other processes of the machine can be listed",
    "user": "as root, the user that commands run as has no name",
    "concurrency": "locks and pools of processes do not work without /dev/shm",
    "loopback": "there is no loopback: servers that tests start cannot be reached",
    "disk": "each file is limited, their sum is not",
}


@dataclass(frozen=True)
class Backend:
    """One way of isolating. `lacks` names the probes whose failure is expected, with what that means.

    `reaching` opens one that can let commands out to listed destinations, where it can.
    `memory` says how its limit is kept: `watched` every 20 ms, or `hard`, by the kernel.
    """

    name: str
    open: Callable[[], Sandbox]
    level: Level
    lacks: Mapping[str, str] = field(default_factory=dict)
    reaching: Callable[[Outside], Sandbox] | None = None
    memory: str = "watched"


BACKENDS: Mapping[str, Backend] = {
    b.name: b
    for b in (
        Backend("userns", UsernsSandbox, Level.FULL, reaching=lambda o: UsernsSandbox(outside=o)),
        Backend("bubblewrap", BubblewrapSandbox, Level.FULL, reaching=lambda o: BubblewrapSandbox(outside=o)),
        Backend(
            "container", ContainerSandbox, Level.FULL, memory="hard", reaching=lambda o: ContainerSandbox(outside=o)
        ),
        Backend("landlock", LandlockSandbox, Level.PARTIAL, _LANDLOCK_LACKS),
        Backend("bare", BareSandbox, Level.NONE),
    )
}
"""Best first."""


def aspects(probes: Mapping[str, str], memory: str = "watched") -> dict[str, str]:
    """What `probes` (a name to "ok" or what is wrong) say about each aspect: `full`, `partial` or `none`."""
    found: dict[str, str] = {}
    for aspect, names in ASPECTS.items():
        if probes.get(names[0]) != "ok":
            found[aspect] = "none"
        else:
            found[aspect] = "full" if all(probes.get(n) == "ok" for n in names) else "partial"
    if found["memory"] == "full":
        found["memory"] = memory
    return found
