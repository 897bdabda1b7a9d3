"""A second system call filter, for where there are no namespaces: what those would have kept apart is refused.

No socket can be made; pairs of connected ones can. What is named in the machine's one IPC namespace is out of reach.
Landlock does not rule on modes, owners, times and attributes of files, so calls that change them change nothing: they
say that they did, because too many programs end when they say otherwise.
"""

from __future__ import annotations

import functools
import struct

from . import kernel

_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_EPERM, _NO_ERROR, _ENOTSUP = 1, 0, 95
_LOAD, _AND, _JUMP_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_NR, _ARG0, _ARG1 = 0, 16, 24
_KIND, _STREAM, _SEQPACKET = 0xF, 1, 5

# name: (x86-64, aarch64); None where the architecture has no such call.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semtimedop": (220, 192), "semctl": (66, 191), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181),
}  # fmt: skip
_IDLE: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88),
}  # fmt: skip
_UNSUPPORTED: dict[str, tuple[int | None, int | None]] = {
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "setxattrat": (463, 463), "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}  # fmt: skip
_TRUNCATE, _SOCKETPAIR, _PRLIMIT = (76, 45), (53, 199), (302, 261)

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


@functools.cache
def program(arch: str, abi: int) -> bytes:
    """The filter for `arch`, beside Landlock of version `abi`. It relies on the first filter to refuse other numbers.

    Raises `OSError` for an architecture without a table.
    """
    if arch not in ("x86_64", "aarch64"):
        raise OSError(f"no system call table for {arch}; x86_64 and aarch64 have one")
    column = 0 if arch == "x86_64" else 1
    code: list[Instruction] = [(_LOAD, 0, 0, _NR)]
    for table, errno in ((_REFUSED, _EPERM), (_IDLE, _NO_ERROR), (_UNSUPPORTED, _ENOTSUP)):
        for numbers in table.values():
            code += _answer(numbers[column], errno)
    if abi < 3:  # which does not rule on this call
        code += _answer(_TRUNCATE[column], _EPERM)
    # A datagram socket of a pair can still send to any other; those of the other kinds cannot.
    code += _only(_SOCKETPAIR[column], [(_LOAD, 0, 0, _ARG1), (_AND, 0, 0, _KIND)], (_STREAM, _SEQPACKET))
    code += _only(_PRLIMIT[column], [(_LOAD, 0, 0, _ARG0)], (0,))  # one's own limits only
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *i) for i in code)


def install(abi: int) -> None:
    """Filter this process and all it starts. Needs no_new_privs."""
    kernel.install_filter(program(kernel.ARCH, abi))


def _answer(number: int | None, errno: int) -> list[Instruction]:
    return [] if number is None else [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno)]


def _only(number: int, load: list[Instruction], allowed: tuple[int, ...]) -> list[Instruction]:
    """Refuse the call unless what `load` loads is one of `allowed`."""
    tests = [(_JUMP_EQUAL, len(allowed) - n, 0, value) for n, value in enumerate(allowed)]
    body = [*load, *tests, (_RETURN, 0, 0, _ERRNO | _EPERM), (_RETURN, 0, 0, _ALLOW)]
    return [(_JUMP_EQUAL, 0, len(body), number), *body]
