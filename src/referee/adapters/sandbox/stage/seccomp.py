"""The system call filter: a deny list as classic BPF, for x86-64 and aarch64.

Denied is what leads out of the sandbox or around its limits: mounts and namespaces, other processes' memory,
kernel key rings, io_uring (it makes calls the filter never sees), memory that no limit counts. What ordinary
tests use (threads, sockets of the usual families, ptys, asyncio) stays allowed.
"""

from __future__ import annotations

import functools
import struct

from . import kernel

_X86_64, _AARCH64 = 0xC000003E, 0xC00000B7
_X32_BIT = 0x40000000

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NR, _ARCH, _ARG0, _ARG1 = 0, 4, 16, 24  # offsets in seccomp_data; the low halves of the arguments

# name: (x86-64, aarch64); None where the architecture has no such call.
REFUSED: dict[str, tuple[int | None, int | None]] = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "shmget": (29, 194),
    "msgget": (68, 186), "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "swapon": (167, 224), "swapoff": (168, 225),
    "reboot": (169, 142), "sethostname": (170, 161), "setdomainname": (171, 162),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "acct": (163, 89), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None),
    "vhangup": (153, 58), "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "lookup_dcookie": (212, 18), "fanotify_init": (300, 262), "uselib": (134, None),
}  # fmt: skip
# Programs ask for these to see whether they exist and do without them.
UNKNOWN: dict[str, tuple[int | None, int | None]] = {
    "clone3": (435, 435), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "memfd_create": (319, 279), "memfd_secret": (447, 447),
}  # fmt: skip
_CLONE, _UNSHARE, _SOCKET, _SOCKETPAIR, _IOCTL = (56, 220), (272, 97), (41, 198), (53, 199), (16, 29)

_NAMESPACES = kernel.ALL_NAMESPACES | kernel.CLONE_NEWTIME
_FAMILIES = (1, 2, 10, 16)  # UNIX, INET, INET6, NETLINK; vsock and others are not confined by the namespace
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


@functools.cache
def program(arch: str) -> bytes:
    """The filter for `arch` (as `platform.machine()` names it). Raises `OSError` for one without a table."""
    if arch not in ("x86_64", "aarch64"):
        raise OSError(f"no system call table for {arch}; x86_64 and aarch64 have one")
    column = 0 if arch == "x86_64" else 1
    code = _prologue(column)
    for numbers in REFUSED.values():
        code += _deny(numbers[column], _EPERM)
    for numbers in UNKNOWN.values():
        code += _deny(numbers[column], _ENOSYS)
    code += _deny_bits(_CLONE[column], _NAMESPACES)
    code += _deny_bits(_UNSHARE[column], _NAMESPACES)
    code += _only(_SOCKET[column], _FAMILIES)
    code += _only(_SOCKETPAIR[column], _FAMILIES)
    code += _deny_values(_IOCTL[column], (_TIOCSTI, _TIOCLINUX))
    code.append(_return(_ALLOW))
    return b"".join(struct.pack("HBBI", *i) for i in code)


def install() -> None:
    """Filter this process and all it starts. Needs no_new_privs."""
    kernel.install_filter(program(kernel.ARCH))


def _return(action: int) -> Instruction:
    return (_RETURN, 0, 0, action)


def _prologue(column: int) -> list[Instruction]:
    """Kill foreign architectures and x32, whose numbers mean other calls; then load the call's number."""
    code = [(_LOAD, 0, 0, _ARCH), (_JUMP_EQUAL, 1, 0, (_X86_64, _AARCH64)[column]), _return(_KILL), (_LOAD, 0, 0, _NR)]
    if column == 0:
        code += [(_JUMP_AT_LEAST, 0, 1, _X32_BIT), _return(_KILL)]
    return code


def _deny(number: int | None, errno: int) -> list[Instruction]:
    if number is None:
        return []
    return [(_JUMP_EQUAL, 0, 1, number), _return(_ERRNO | errno)]


def _deny_bits(number: int, bits: int) -> list[Instruction]:
    """Refuse the call if its first argument has any of `bits`."""
    body = [(_LOAD, 0, 0, _ARG0), (_JUMP_ANY_BIT, 0, 1, bits), _return(_ERRNO | _EPERM), _return(_ALLOW)]
    return [(_JUMP_EQUAL, 0, len(body), number), *body]


def _only(number: int, allowed: tuple[int, ...]) -> list[Instruction]:
    """Refuse the call unless its first argument is one of `allowed`."""
    tests = [(_JUMP_EQUAL, len(allowed) - n, 0, value) for n, value in enumerate(allowed)]
    body = [(_LOAD, 0, 0, _ARG0), *tests, _return(_ERRNO | _EAFNOSUPPORT), _return(_ALLOW)]
    return [(_JUMP_EQUAL, 0, len(body), number), *body]


def _deny_values(number: int, values: tuple[int, ...]) -> list[Instruction]:
    """Refuse the call if the low half of its second argument is one of `values`."""
    tests = [(_JUMP_EQUAL, len(values) - n, 0, value) for n, value in enumerate(values)]
    body = [(_LOAD, 0, 0, _ARG1), *tests, _return(_ALLOW), _return(_ERRNO | _EPERM)]
    return [(_JUMP_EQUAL, 0, len(body), number), *body]
