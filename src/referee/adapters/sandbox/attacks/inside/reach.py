"""Speaking to what listens on the host. Every listener gives a secret to who connects, and remembers that it did."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import Any

from .registry import Scene, attack

_SECONDS = 2.0


def _hear(family: int, address: Any) -> object:
    """Connect and print what is said."""
    with socket.socket(family) as s:
        s.settimeout(_SECONDS)
        s.connect(address)
        return os.write(1, s.recv(4096))


@attack("network", "connect to the host's loopback (IPv4)")
def loopback4(scene: Scene) -> object:
    return _hear(socket.AF_INET, ("127.0.0.1", scene["port4"]))


@attack("network", "connect to the host's loopback (IPv6)", needed="IPv6")
def loopback6(scene: Scene) -> object:
    return _hear(socket.AF_INET6, ("::1", scene["port6"]))


@attack("network", "connect to the host by other names of its loopback")
def loopback_names(scene: Scene) -> object:
    for name in ("localhost", "0.0.0.0", "127.1.2.3", "::ffff:127.0.0.1", scene["hostname"]):  # noqa: S104
        with contextlib.suppress(OSError), socket.create_connection((name, scene["port4"]), _SECONDS) as s:
            os.write(1, s.recv(4096))
    return None


@attack("network", "send a datagram to the host")
def datagram(scene: Scene) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(scene["mark"].encode(), ("127.0.0.1", scene["udp"]))
    return None


@attack("network", "open connections before the wire is looked at (fast open)")
def fast_open(scene: Scene) -> object:
    """sendto with MSG_FASTOPEN connects without connect(2)."""
    with socket.socket(socket.AF_INET) as s:
        s.settimeout(_SECONDS)
        s.sendto(b"x", 0x20000000, ("127.0.0.1", scene["port4"]))
        os.write(1, s.recv(4096))
    return None


def _aim(*hosts: str) -> object:
    """Connected datagram sockets, kept: the kernel has found a route for each that is there."""
    kept = []
    for host in hosts:
        with contextlib.suppress(OSError):
            s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
            s.connect((host, 80))
            kept.append(s)
    return kept


@attack("network", "find a route to the cloud's metadata", needed="a route to the outside")
def metadata(scene: Scene) -> object:
    return _aim("169.254.169.254", "fd00:ec2::254", "100.100.100.200")


@attack("network", "find a route to the outside", needed="a route to the outside")
def outside(scene: Scene) -> object:
    return _aim("192.0.2.1", "198.51.100.1", "2001:db8::1")


@attack("sockets", "connect to a named socket of the host")
def named(scene: Scene) -> object:
    """So does a container engine listen, so do D-Bus and gpg-agent."""
    return _hear(socket.AF_UNIX, scene["named"])


@attack("sockets", "connect to a named socket by a long way round")
def named_elsewhere(scene: Scene) -> object:
    path = scene["named"]
    for prefix in ("/proc/self/root", "/proc/1/root", f"/proc/{scene['victim']}/root", "/".join([".."] * 12)):
        with contextlib.suppress(OSError):
            _hear(socket.AF_UNIX, prefix + path)
    with contextlib.suppress(OSError):
        _hear(socket.AF_UNIX, "way-out/named")
    return None


@attack("sockets", "connect to an abstract socket of the host")
def abstract(scene: Scene) -> object:
    return _hear(socket.AF_UNIX, "\0" + scene["abstract"])


@attack("sockets", "receive a descriptor over an abstract socket")
def received(scene: Scene) -> object:
    """Somebody outside who is willing to help is no help either."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(_SECONDS)
        s.connect("\0" + scene["abstract"])
        _, descriptors, _, _ = socket.recv_fds(s, 4096, 4) if hasattr(socket, "recv_fds") else (b"", [], 0, None)
        for fd in descriptors:
            os.write(1, os.pread(fd, 4096, 0))
    return None


@attack("sockets", "send a datagram to an abstract socket")
def abstract_datagram(scene: Scene) -> object:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.sendto(scene["mark"].encode(), "\0" + scene["abstract"] + "-datagram")
    return None


@attack("sockets", "connect to a socket in a folder that is shown")
def in_shown_folder(scene: Scene) -> object:
    """A read-only mount does not keep anybody from connecting to a socket in it."""
    return _hear(socket.AF_UNIX, f"{scene['tools']}/socket")


@attack("sockets", "connect to the well-known sockets of the system", needed="such a socket here")
def well_known(scene: Scene) -> object:
    """Whether one answers: its name then shows in the socket's list of peers, so keep it open."""
    kept = []
    names = [
        "docker.sock",
        "podman/podman.sock",
        "containerd/containerd.sock",
        "dbus/system_bus_socket",
        "snapd.socket",
    ]
    for path in (*(f"/run/{name}" for name in names), "/var/run/docker.sock", "/run/systemd/private", "/dev/log"):
        s = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError):
            s.connect(path)
            kept.append(s)
    if kept:
        os.write(1, b"reached:" + scene["mark"].encode())
    return kept
