"""The kernel's account of the attacker, read from the host's /proc."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import socket
import stat
import struct
import termios

from referee.adapters.sandbox.requests import ROOTS_STAND_IN

VARIABLE = "REFEREE_ATTACK_MARK"  # in the environment of the attacker and of all that it starts
_PIDFD_GETFD = 438
_USUAL = (1, 2, 10, 16)  # families of sockets: UNIX, INET, INET6, NETLINK
_HARMLESS = {(1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 2), (0, 0)}  # null, zero, full, random, tty, ptmx
_PTS = range(136, 144)
_OBJECTS = {
    "io_uring": "io_uring", "bpf-map": "a kernel program's map", "perf_event": "a performance counter",
    "userfaultfd": "a handler of page faults", "fanotify": "a watch on the file system", "/memfd:": "memory of no file",
    "/secretmem": "memory that the kernel hides",
}  # fmt: skip
_NAMESPACES = ("user", "mnt", "net", "pid_for_children", "ipc", "uts", "cgroup")
_READ_TOO = ("/proc/kcore", "/proc/kmsg", "/proc/kpage", "/sys/kernel/debug", "/sys/kernel/tracing")
_AIMS = {
    "FEA9FEA9": "169.254.169.254", "C8646464": "100.100.100.200", "010200C0": "192.0.2.1", "016433C6": "198.51.100.1",
}  # fmt: skip
_libc = ctypes.CDLL(None, use_errno=True)


def marked(mark: str) -> list[int]:
    """Every process that has `mark` in its environment."""
    wanted = f"{VARIABLE}={mark}".encode()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and wanted in _read(f"/proc/{name}/environ")]


def named(pid: int) -> str:
    """The name that a process's first thread has given itself."""
    return _read(f"/proc/{pid}/comm").decode("utf-8", "replace").strip()


def text(path: str) -> str:
    """A file of /proc, empty if it is gone."""
    return _read(path).decode("utf-8", "replace")


def holdings(pid: int, mark: str) -> set[str]:
    """What a process has open that nobody in a sandbox should."""
    held: set[str] = set()
    for name in listed(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        with contextlib.suppress(OSError):
            link = os.readlink(path)
            held |= {f"it holds {what}" for part, what in _OBJECTS.items() if part in link}
            if link.removesuffix(" (deleted)") == f"/{mark}":
                held.add("it holds a message queue")
            held |= _special(pid, name, link, os.stat(path))
    if "/SYSV" in text(f"/proc/{pid}/maps"):
        held.add("it holds a System V segment")
    return held


def _special(pid: int, name: str, link: str, about: os.stat_result) -> set[str]:
    """Sockets of rare families, devices, and files of the kernel."""
    if stat.S_ISSOCK(about.st_mode):
        family = _family(pid, int(name))
        return {f"it holds a socket of family {family}"} if family not in (None, *_USUAL) else set()
    if stat.S_ISBLK(about.st_mode) or stat.S_ISCHR(about.st_mode):
        number = (os.major(about.st_rdev), os.minor(about.st_rdev))
        if number[0] in _PTS and _typed(f"/proc/{pid}/fd/{name}"):
            return {"it typed into a terminal"}
        return set() if number in _HARMLESS or number[0] in _PTS else {f"it holds the device {link}"}
    flags = next((r.split()[1] for r in text(f"/proc/{pid}/fdinfo/{name}").splitlines() if r.startswith("flags")), "0")
    writable = int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
    kernels = link.startswith(("/proc/sys/", "/proc/sysrq", "/sys/")) or link.endswith(
        ("release_agent", "cgroup.procs")
    )
    if (writable and kernels) or link.startswith(_READ_TOO):
        return {f"it holds {link}"}
    return set()


def standing(pid: int) -> dict[str, str]:
    """User, capabilities and tracer of a process, as the host sees them: what is wrong with it, by kind."""
    status = dict(r.split(":\t", 1) for r in text(f"/proc/{pid}/status").splitlines() if ":\t" in r)
    wrong: dict[str, str] = {}
    if "Uid" not in status or status["State"].startswith("Z"):
        return wrong
    if "0" in status["Uid"].split():
        wrong["root"] = "it runs as root"
    if int(status["CapEff"], 16) or int(status["CapPrm"], 16):
        wrong["capabilities"] = f"it has the capabilities {status['CapEff']}"
    if status["TracerPid"] != "0":
        wrong["traced"] = "it traces another process"
    if int(text(f"/proc/{pid}/oom_score_adj") or 0) < 0:
        wrong["immortal"] = "it is spared when memory runs out"
    return wrong


def namespaces(pid: int) -> tuple[str, ...]:
    """The namespaces of a process."""
    found = []
    for name in _NAMESPACES:
        try:
            found.append(os.readlink(f"/proc/{pid}/ns/{name}"))
        except OSError:
            return ()
    return tuple(found)


def keys() -> int:
    """How many keys root's stand-in has in the kernel; those of others can be seen one by one."""
    for line in text("/proc/key-users").splitlines():
        if line.split(":")[0].strip() == str(ROOTS_STAND_IN[0]):
            return int(line.split()[2].split("/")[0])
    return 0


def routes(pid: int) -> list[str]:
    """Those of the addresses that attacks aim at to which a socket in the network namespace of `pid` is connected."""
    found = []
    for row in text(f"/proc/{pid}/net/udp").splitlines()[1:]:
        address = row.split()[2].split(":")[0]
        if address in _AIMS:
            found.append(_AIMS[address])
    return found


def queued(pid: int) -> int:
    """Bytes that wait in the sockets and pipes of a process."""
    total = 0
    for name in listed(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            link = os.readlink(f"/proc/{pid}/fd/{name}")
            if link.startswith("socket:"):
                total += _asked(_taken(pid, int(name)), termios.TIOCOUTQ)
            elif link.startswith("pipe:"):
                how = os.O_RDONLY | os.O_NONBLOCK
                total += _asked(os.open(f"/proc/{pid}/fd/{name}", how), termios.FIONREAD)
    return total


def _family(pid: int, number: int) -> int | None:
    fd = _taken(pid, number)
    if fd < 0:
        return None
    with socket.socket(fileno=fd) as s:
        return s.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN)


def _taken(pid: int, number: int) -> int:
    """A copy of another process's descriptor; -1 if it is gone."""
    with contextlib.suppress(OSError):
        process = os.pidfd_open(pid)
        try:
            return int(_libc.syscall(_PIDFD_GETFD, process, number, 0))
        finally:
            os.close(process)
    return -1


def _typed(path: str) -> bool:
    return _asked(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), termios.FIONREAD) > 0


def _asked(fd: int, what: int) -> int:
    """The answer of an open file to an ioctl that counts; the file is closed."""
    if fd < 0:
        return 0
    try:
        return int(struct.unpack("i", fcntl.ioctl(fd, what, bytes(4)))[0])
    finally:
        os.close(fd)


def listed(path: str) -> list[str]:
    """The names in a folder of /proc, none if it is gone or closed."""
    try:
        return os.listdir(path)
    except OSError:
        return []


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as f:
            return f.read() or b""
    except OSError:
        return b""
