"""System calls by number."""

from __future__ import annotations

import ctypes
import os
import platform
from typing import NoReturn

X86 = platform.machine() == "x86_64"
_TABLE = {  # (x86-64, aarch64)
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "renameat2": (316, 276), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "io_uring_setup": (425, 425), "add_key": (248, 217),
    "keyctl": (250, 219), "setns": (308, 268), "unshare": (272, 97), "clone": (56, 220), "clone3": (435, 435),
    "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "mount_setattr": (442, 442),
    "fanotify_init": (300, 262), "pidfd_getfd": (438, 438), "ioctl": (16, 29), "shmget": (29, 194), "shmat": (30, 196),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "mq_unlink": (241, 181),
    "landlock_create_ruleset": (444, 444),
}  # fmt: skip
NUMBERS = {name: pair[0 if X86 else 1] for name, pair in _TABLE.items()}
MS_RDONLY, MS_REMOUNT, MS_BIND, MNT_DETACH = 1, 32, 4096, 2
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x10000000, 0x20000000, 0x40000000

PATIENCE = 15  # seconds at most to wait for the host's look; it may be busy
_WHEN_THE_PARENT_ENDS = 1

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.mmap.restype = ctypes.c_void_p


def system_call(number: int, *arguments: object) -> int:
    """Make a call. Raises `OSError` if the kernel refuses it."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(libc.syscall(ctypes.c_long(number), *wide))


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> int:
    """mount(2)."""
    texts = [os.fsencode(text) for text in (source, target, kind)]
    return _checked(libc.mount(*texts, ctypes.c_ulong(flags), options.encode() or None))


def umount(target: str) -> int:
    """umount2(2), lazily."""
    return _checked(libc.umount2(os.fsencode(target), MNT_DETACH))


def unshare(flags: int) -> int:
    """unshare(2)."""
    return _checked(libc.unshare(ctypes.c_int(flags)))


def stay() -> NoReturn:
    """What a child of the attacker ends with: it is there until the host has looked, and ends with the attacker.

    Only what the kernel does at once: after a bare clone nothing else is safe.
    """
    libc.prctl(_WHEN_THE_PARENT_ENDS, 9, 0, 0, 0)
    if libc.getppid() != 1:  # or it has ended already
        libc.sleep(PATIENCE)
    libc._exit(0)
    raise AssertionError


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(result)
