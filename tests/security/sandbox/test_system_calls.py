"""The system call filter, as seen from inside: what leads out or around limits is refused, on every backend."""

from __future__ import annotations

import platform

import pytest
from sandbox_boxes import Box

from referee.adapters.sandbox.stage import seccomp

CALL = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    ctypes.set_errno(0)
    libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) for a in arguments))
    return errno.errorcode.get(ctypes.get_errno(), "OK")
"""
COLUMN = 0 if platform.machine() == "x86_64" else 1
REFUSED = {name: numbers[COLUMN] for name, numbers in seccomp.REFUSED.items() if numbers[COLUMN] is not None}
UNKNOWN = {name: numbers[COLUMN] for name, numbers in seccomp.UNKNOWN.items()}


def test_refused_calls(box: Box) -> None:
    listed = {**REFUSED, **UNKNOWN}
    code = f"{CALL}\nfor name, number in {listed!r}.items(): print(name, call(number, -1, -1, -1, -1, -1, -1))"
    seen = dict(line.split() for line in box.python(code).stdout.decode().splitlines())
    assert seen == {**dict.fromkeys(REFUSED, "EPERM"), **dict.fromkeys(UNKNOWN, "ENOSYS")}


def test_the_same_calls_are_answered_by_the_kernel_without_the_filter(bare: Box) -> None:
    """Control: harmless arguments, and other answers than the filter's for those that need no privilege."""
    harmless = ("memfd_create", "io_uring_setup", "kcmp", "request_key", "ptrace", "process_vm_readv", "open_tree")
    listed = {name: number for name, number in {**REFUSED, **UNKNOWN}.items() if name in harmless}
    code = f"{CALL}\nfor name, number in {listed!r}.items(): print(name, call(number, 0, 0, 0, 0, 0, 0))"
    seen = dict(line.split() for line in bare.python(code).stdout.decode().splitlines())
    answered = [name for name in listed if seen[name] not in ("EPERM", "ENOSYS")]
    assert len(answered) >= 4, seen


def test_namespaces_by_clone(box: Box) -> None:
    """Each flag on its own; a plain clone stays possible."""
    number = (56, 220)[COLUMN]
    flags = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
    code = (
        f"{CALL}\nfor flag in {flags}: print(call({number}, flag | 17, 0, 0, 0, 0))\n"
        "print(os.waitpid(os.fork() or os._exit(0), 0)[1])"
    )
    assert box.python(code).stdout.split() == [b"EPERM"] * len(flags) + [b"0"]


def test_socket_families(box: Box) -> None:
    """vsock reaches the host of a virtual machine past every namespace; so might families nobody asked for."""
    code = """
import socket
for family in (1, 2, 10, 16, 40, 38, 17, 31, 21, 4, 44, 29):
    for kind in (socket.SOCK_STREAM, socket.SOCK_RAW, socket.SOCK_DGRAM):
        try: socket.socket(family, kind).close(); print(family); break
        except OSError: pass
"""
    assert box.python(code).stdout.split() == [b"1", b"2", b"10", b"16"]


def test_typing_into_a_terminal(box: Box, bare: Box) -> None:
    """TIOCSTI and TIOCLINUX, also with the upper half of the register set, on a pty of one's own."""
    number = (16, 29)[COLUMN]
    code = f"""{CALL}
import pty
_, slave = pty.openpty()
byte = ctypes.create_string_buffer(b"x")
for request in (0x5412, 0x541C, 0x5412 | 1 << 32, 0x541C | 1 << 32):
    print(call({number}, slave, request, ctypes.addressof(byte)))
print(call({number}, slave, 0x5401, ctypes.addressof(ctypes.create_string_buffer(64))))
"""
    assert box.python(code).stdout.split() == [b"EPERM"] * 4 + [b"OK"]
    assert bare.python(code).stdout.split() != [b"EPERM"] * 4 + [b"OK"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="x32 and i386 exist on x86-64 only")
def test_foreign_calling_conventions_are_fatal(box: Box) -> None:
    assert box.python(f"{CALL}\nprint(call(0x40000000 | 39))").killed_by == "signal:SIGSYS"
