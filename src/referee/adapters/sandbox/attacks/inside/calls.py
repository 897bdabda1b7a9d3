"""System calls that lead around the filter, the limits or the namespaces. The host looks at what they opened."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import mmap
import os
import pty
import socket
import struct
from typing import Any

from .registry import Scene, attack
from .system import NUMBERS, PATIENCE, X86, stay, system_call

_TIOCSTI, _TIOCSCTTY = 0x5412, 0x540E
_I386 = {"memfd_create": 356}


@attack("calls", "set up io_uring")
def io_uring(scene: Scene) -> object:
    """It makes calls that no filter sees."""
    return system_call(NUMBERS["io_uring_setup"], 4, ctypes.create_string_buffer(120))


@attack("calls", "load a kernel program (bpf)", control="root")
def bpf(scene: Scene) -> object:
    record = struct.pack("IIII", 2, 4, 4, 1).ljust(72, b"\0")  # an array of one number
    return system_call(NUMBERS["bpf"], 0, record, len(record))


@attack("calls", "measure the machine (perf)", control="root")
def perf(scene: Scene) -> object:
    record = struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, 0).ljust(112, b"\0")  # software, CPU clock
    return system_call(NUMBERS["perf_event_open"], record, 0, -1, -1, 0)


@attack("calls", "handle page faults (userfaultfd)", control="root")
def faults(scene: Scene) -> object:
    return system_call(NUMBERS["userfaultfd"], os.O_CLOEXEC)


@attack("calls", "hold memory in no file system (memfd)")
def memfd(scene: Scene) -> object:
    return system_call(NUMBERS["memfd_create"], b"hidden", 0)


@attack("calls", "hold memory that the kernel hides", needed="a kernel with memfd_secret")
def secret_memory(scene: Scene) -> object:
    return system_call(NUMBERS["memfd_secret"], 0)


@attack("calls", "watch the file system (fanotify)", control="root")
def fanotify(scene: Scene) -> object:
    return system_call(NUMBERS["fanotify_init"], 0, 0)


@attack("calls", "put a key into a key ring")
def key_ring(scene: Scene) -> object:
    """Key rings belong to users, not to namespaces."""
    return system_call(NUMBERS["add_key"], b"user", scene["mark"].encode(), b"x", 1, ctypes.c_long(-2))


@attack("calls", "trace another process")
def trace(scene: Scene) -> object:
    child = os.fork()
    if child == 0:
        stay()
    system_call(NUMBERS["ptrace"], 0x4206, child, 0, 0)  # seize
    return child


def _family(number: int, kind: int, protocol: int = 0) -> socket.socket:
    return socket.socket(number, kind, protocol)


@attack("calls", "open a socket to the virtual machine's host (vsock)", needed="a kernel with vsock")
def vsock(scene: Scene) -> object:
    """Such sockets know no network namespace."""
    return _family(40, socket.SOCK_STREAM)


@attack("calls", "open a packet socket", control="root")
def packet(scene: Scene) -> object:
    return _family(17, socket.SOCK_RAW)


@attack("calls", "open a socket of the kernel's ciphers", needed="a kernel with AF_ALG")
def ciphers(scene: Scene) -> object:
    return _family(38, socket.SOCK_SEQPACKET)


@attack("calls", "open sockets of rare families")
def rare(scene: Scene) -> object:
    """Code that few use and many flaws were found in; the one that is there is enough."""
    opened: list[socket.socket] = []
    for family in range(3, 46):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            if family not in (10, 16):
                with contextlib.suppress(OSError):
                    opened.append(_family(family, kind))
    return opened


@attack("calls", "call by the numbers of x32", needed="a kernel with x32 calls")
def x32(scene: Scene) -> object:
    """The same calls under other numbers."""
    return system_call(0x40000000 | NUMBERS["memfd_create"], b"hidden", 0)


@attack("calls", "call by the numbers of i386", needed="a kernel with i386 calls")
def i386(scene: Scene) -> object:
    """`int 0x80` from 64-bit code: the filter sees another architecture."""
    if not X86:
        raise OSError("there is no i386 here")
    area: Any = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40, prot=7)  # below 4 GiB
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    name = address + 512
    area[512:519] = b"hidden\0"
    code = b"\x53\xb8" + struct.pack("<I", _I386["memfd_create"]) + b"\xbb" + struct.pack("<I", name)
    area[: len(code) + 6] = code + b"\x31\xc9\xcd\x80\x5b\xc3"  # xor ecx, ecx; int 0x80; pop rbx; ret
    fd = _run(ctypes.CFUNCTYPE(ctypes.c_int), address)
    if fd < 0:
        raise OSError(-fd, os.strerror(-fd))
    return fd


def _run(kind: Any, address: int) -> int:
    return int(kind(address)())


def _typing(request: int) -> object:
    """Type a line into a terminal of one's own, and leave it to be read."""
    master, slave = pty.openpty()
    ready, done = os.pipe()
    if os.fork() == 0:
        os.setsid()
        with contextlib.suppress(OSError):
            fcntl.ioctl(slave, _TIOCSCTTY, 0)
        for byte in b"x\n":
            char = ctypes.create_string_buffer(bytes([byte]), 1)
            with contextlib.suppress(OSError):
                system_call(NUMBERS["ioctl"], slave, request, ctypes.addressof(char))
        os.write(done, b"x")
        stay()
    os.close(done)
    os.read(ready, 1)
    return master, slave


@attack("terminal", "type into a terminal (TIOCSTI)")
def typing(scene: Scene) -> object:
    return _typing(_TIOCSTI)


@attack("terminal", "type into a terminal, with a request the filter may misread")
def typing_wide(scene: Scene) -> object:
    """The kernel looks at the lower half of the register only."""
    return _typing(_TIOCSTI | 1 << 32)


@attack("terminal", "type into the terminal of the harness")
def typing_outside(scene: Scene) -> object:
    """By /dev/tty and by its own name."""
    opened: list[int] = []
    for path in ("/dev/tty", scene["terminal"]):  # and no other: somebody may sit there
        with contextlib.suppress(OSError):
            opened.append(os.open(path, os.O_RDWR | os.O_NOCTTY))
    for fd in opened:
        for byte in b"x\n":
            with contextlib.suppress(OSError):
                fcntl.ioctl(fd, _TIOCSTI, bytes([byte]))
    return opened


@attack("privileges", "run a set-user-id program", control="user", prepare="setuid")
def set_user_id(scene: Scene) -> object:
    return _lingering(f"{scene['tools']}/setuid-sleep")


@attack("privileges", "run a program with file capabilities", control="user", prepare="capable")
def capable(scene: Scene) -> object:
    return _lingering(f"{scene['tools']}/capable-sleep")


@attack("privileges", "make a set-user-id program", control="root")
def make_set_user_id(scene: Scene) -> object:
    """For root, whoever that is inside; and with a capability that is asked for."""
    import shutil

    where = f"/tmp/{scene['mark']}-sleep"
    shutil.copy("/bin/sleep", where)
    with contextlib.suppress(OSError):
        os.chown(where, 0, 0)
    os.chmod(where, 0o4755)
    with contextlib.suppress(OSError):
        os.setresuid(1, 1, 1)
    return _lingering(where)


def _lingering(program: str) -> int:
    import subprocess

    quiet = subprocess.DEVNULL  # or whoever waits for the end of the output would wait for it
    return subprocess.Popen([program, str(PATIENCE)], stdin=quiet, stdout=quiet, stderr=quiet).pid


@attack("privileges", "become root", control="root")
def become_root(scene: Scene) -> object:
    """By asking for it; a sandbox that was started by root must have left that behind."""
    with contextlib.suppress(OSError):
        os.setgroups([0])
    with contextlib.suppress(OSError):
        os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    return None


@attack("devices", "make a device", control="root")
def make_device(scene: Scene) -> object:
    """A disk, the memory, and the null device, where they can be made."""
    for folder in ("/tmp", "/dev/shm", "/dev", scene["root"]):
        for kind, major, minor in ((0o060000, 8, 0), (0o060000, 254, 0), (0o020000, 1, 1), (0o020000, 1, 3)):
            with contextlib.suppress(OSError):
                os.mknod(f"{folder}/{scene['mark']}-{major}-{minor}", kind | 0o666, os.makedev(major, minor))
    return None


@attack("devices", "open the machine's devices", control="root")
def open_devices(scene: Scene) -> object:
    """Memory, kernel log, disks, virtual machines, the network's tunnel."""
    opened: list[int] = []
    names = [f"/dev/{name}" for name in ("mem", "kmsg", "kvm", "fuse", "net/tun", "vsock", "loop-control", "port")]
    with contextlib.suppress(OSError):
        names += [f"/dev/{name}" for name in os.listdir("/sys/class/block")]
    for name in names:
        with contextlib.suppress(OSError):
            opened.append(os.open(name, os.O_RDONLY | os.O_NONBLOCK))
    return opened
