"""Run inside a sandbox to find out what it lets through: prints one JSON object, probe to "ok" or what is wrong.

Standard library only. Arguments: a JSON object with what exists on the host and must be out of reach.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import multiprocessing
import os
import pwd
import socket
import stat
import sys
import tempfile
from collections.abc import Callable
from typing import Any

_MS_REMOUNT, _CLONE_NEWUSER, _AF_VSOCK, _TOO_MANY = 32, 0x10000000, 40, 16
_DEVICES = ("mem", "port", "kmsg", "fuse", "kvm", "vda", "sda", "nvme0n1", "loop0", "dri/card0")
_libc = ctypes.CDLL(None, use_errno=True)


class Wrong(Exception):
    """What a probe found."""


def host_files(host: dict[str, Any]) -> None:
    for path in (host["marker"], "/etc/shadow", "/proc/1/root" + host["marker"]):
        with contextlib.suppress(OSError), open(path, "rb"):
            raise Wrong(f"{path} of the host can be read")
    for attack in (_write, os.unlink):
        with contextlib.suppress(OSError):
            attack(host["marker"])
            raise Wrong(f"{host['marker']} of the host can be changed")


def host_names(host: dict[str, Any]) -> None:
    for path in (host["marker"], "/etc/shadow", "/proc/1/root" + host["marker"]):
        if os.path.lexists(path):
            raise Wrong(f"that the host has {path} is visible")


def host_sockets(host: dict[str, Any]) -> None:
    targets = ((socket.AF_INET, ("127.0.0.1", host["port"])), (socket.AF_UNIX, "\0" + host["abstract"]))
    for family, address in (*targets, (socket.AF_UNIX, host["socket"])):
        s = _socket(family, socket.SOCK_STREAM)
        if s is None:
            continue
        with s:
            s.settimeout(2)
            if s.connect_ex(address) == 0:
                raise Wrong(f"a listener of the host answers at {address!r}")


def network(host: dict[str, Any]) -> None:
    s = _socket(socket.AF_INET, socket.SOCK_DGRAM)
    if s is None:
        return
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    if names:
        raise Wrong(f"there are network interfaces: {', '.join(names)}")
    with s:
        if s.connect_ex(("192.0.2.1", 9)) == 0:
            raise Wrong("there is a route to the outside")


def loopback(host: dict[str, Any]) -> None:
    pairs = [(socket.AF_INET, "127.0.0.1")]
    if os.path.exists("/proc/net/if_inet6"):
        pairs.append((socket.AF_INET6, "::1"))
    for family, address in pairs:
        with socket.socket(family) as listener, socket.socket(family) as caller:
            listener.bind((address, 0))
            listener.listen()
            caller.connect(listener.getsockname())


def mounts(host: dict[str, Any]) -> None:
    for path in (host["protected"], host["root"]):  # never a path of the system: this may run without a sandbox
        if _libc.umount2(path.encode(), 2) == 0:
            raise Wrong(f"{path} can be unmounted")
        if _libc.mount(None, path.encode(), None, ctypes.c_ulong(_MS_REMOUNT | 4096), None) == 0:
            raise Wrong(f"{path} can be remounted writable")
    if _libc.unshare(_CLONE_NEWUSER) == 0:
        raise Wrong("user namespaces can be made inside")


def protection(host: dict[str, Any]) -> None:
    with open("protected/inner", encoding="utf-8") as f:
        before = f.read()
    for attack, path in ((_write, "protected/inner"), (_write, "protected/new"), (os.unlink, "protected/inner")):
        with contextlib.suppress(OSError):
            attack(path)
    with contextlib.suppress(OSError):
        os.rename("protected", "elsewhere")
    with open("protected/inner", encoding="utf-8") as f:
        if f.read() != before or os.listdir("protected") != ["inner"]:
            raise Wrong("a protected path can be changed")


def workspace(host: dict[str, Any]) -> None:
    with open("patched", encoding="utf-8") as f:
        if f.read() != "patched":
            raise Wrong("the patch is not there")
    if os.getcwd() != host["root"]:
        raise Wrong("the tree is not at its own path")


def scratch(host: dict[str, Any]) -> None:
    for path in ("plain", os.path.expanduser("~/written"), f"{tempfile.gettempdir()}/written"):
        _write(path)


def beside(host: dict[str, Any]) -> None:
    _write("written")


def temporary(host: dict[str, Any]) -> None:
    for folder in ("/tmp", "/dev/shm"):  # noqa: S108
        if os.listdir(folder):
            raise Wrong(f"{folder} is not its own")
        _write(f"{folder}/written")


def modes(host: dict[str, Any]) -> None:
    path = os.path.expanduser("~/moded")
    _write(path)
    os.chmod(path, 0o700)
    if os.stat(path).st_mode & 0o777 != 0o700:
        raise Wrong("the mode of a file cannot be changed")


def processes(host: dict[str, Any]) -> None:
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
    if len(pids) > _TOO_MANY:
        raise Wrong(f"{len(pids)} processes are visible")


def signals(host: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        os.kill(host["pid"], 0)
        raise Wrong("a process of the host can be signalled")


def memory_of_others(host: dict[str, Any]) -> None:
    for name in ("environ", "mem", "maps"):
        with contextlib.suppress(OSError), open(f"/proc/{host['pid']}/{name}", "rb"):
            raise Wrong(f"the {name} of a process of the host can be read")


def devices(host: dict[str, Any]) -> None:
    for name in _DEVICES:  # a short list: merely opening some others, such as a watchdog, has effects
        with contextlib.suppress(OSError):
            os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
            raise Wrong(f"the device /dev/{name} can be opened")
    with contextlib.suppress(OSError):
        os.mknod("device", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        raise Wrong("device files can be made")


def concurrency(host: dict[str, Any]) -> None:
    fork = multiprocessing.get_context("fork")
    with fork.Lock(), fork.Pool(2) as pool:
        if pool.map(abs, [-1, -2]) != [1, 2]:
            raise Wrong("a pool of processes gives wrong answers")


def environment(host: dict[str, Any]) -> None:
    seen = [name for name in host["environment"] if name in os.environ]
    if seen:
        raise Wrong(f"variables of the host are visible: {', '.join(seen)}")


def privileges(host: dict[str, Any]) -> None:
    with open("/proc/self/status", encoding="utf-8") as f:
        status = dict(line.split(":", 1) for line in f)
    none = "0" * 16
    wanted = {"CapEff": none, "CapPrm": none, "CapAmb": none, "NoNewPrivs": "1", "Seccomp": "2"}
    wrong = [f"{name} is {status[name].strip()}" for name, value in wanted.items() if status[name].strip() != value]
    if wrong or os.getuid() == 0:
        raise Wrong("; ".join(wrong) or "commands run as root")


def user(host: dict[str, Any]) -> None:
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        raise Wrong(f"the user {os.getuid()} has no name") from None


def families(host: dict[str, Any]) -> None:
    s = _socket(_AF_VSOCK, socket.SOCK_STREAM)
    if s is not None:
        s.close()
        raise Wrong("vsock sockets can be made")


PROBES: tuple[Callable[[dict[str, Any]], None], ...] = (
    host_files, host_names, host_sockets, network, loopback, protection, workspace, temporary, scratch, beside,
    modes, processes, signals, memory_of_others, devices, concurrency, environment, privileges, user, families, mounts,
)  # fmt: skip


def _socket(family: int, kind: int) -> socket.socket | None:
    """A socket; None where none can be made, which is safe."""
    with contextlib.suppress(OSError):
        return socket.socket(family, kind)
    return None


def _write(path: str) -> None:
    with open(path, "w", encoding="utf-8") as f:
        f.write("written")


def main() -> None:
    """Run every probe, each for itself."""
    host, found = json.loads(sys.argv[1]), {}
    for probe in PROBES:
        try:
            probe(host)
            found[probe.__name__] = "ok"
        except (Wrong, OSError) as e:
            found[probe.__name__] = str(e)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
