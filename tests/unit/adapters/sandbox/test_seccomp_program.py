"""The filter's program, run by a small interpreter of classic BPF: both architectures, on any machine."""

from __future__ import annotations

import struct

import pytest

from referee.adapters.sandbox.stage import seccomp

ALLOW, KILL, EPERM, ENOSYS, EAFNOSUPPORT = 0x7FFF0000, 0x80000000, 0x50001, 0x50026, 0x50061
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def verdict(program: bytes, arch: int, number: int, *arguments: int) -> int:
    """What the kernel would do: the return value of the program for one call."""
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, arch, 0, *words)
    code = [struct.unpack_from("HBBI", program, at) for at in range(0, len(program), 8)]
    at = accumulator = 0
    while True:
        kind, if_true, if_false, operand = code[at]
        at += 1
        if kind == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, operand)
        elif kind == 0x06:
            return operand
        else:
            tests = {0x15: accumulator == operand, 0x35: accumulator >= operand, 0x45: accumulator & operand != 0}
            at += if_true if tests[kind] else if_false


@pytest.fixture(params=ARCHITECTURES)
def arch(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def column(arch: str) -> int:
    return list(ARCHITECTURES).index(arch)


def test_refused_and_unknown_calls(arch: str) -> None:
    program = seccomp.program(arch)
    for table, wanted in ((seccomp.REFUSED, EPERM), (seccomp.UNKNOWN, ENOSYS)):
        for name, numbers in table.items():
            number = numbers[column(arch)]
            if number is not None:
                assert verdict(program, ARCHITECTURES[arch], number) == wanted, name


def test_ordinary_calls_are_allowed(arch: str) -> None:
    """read, write, openat, sendto, setsockopt, execve, futex, ppoll, prctl and the like."""
    ordinary = {
        "x86_64": (0, 1, 257, 44, 54, 59, 202, 271, 157, 231, 9, 11, 13, 61, 62, 39, 110, 318, 332, 334, 439),
        "aarch64": (63, 64, 56, 206, 208, 221, 98, 73, 167, 94, 222, 215, 134, 260, 129, 172, 173, 278, 291, 293, 439),
    }
    for number in ordinary[arch]:
        assert verdict(seccomp.program(arch), ARCHITECTURES[arch], number) == ALLOW, number


def test_arguments_decide_for_some_calls(arch: str) -> None:
    program, native, n = seccomp.program(arch), ARCHITECTURES[arch], column(arch)
    clone, unshare, make_socket, pair, ioctl = ((56, 220), (272, 97), (41, 198), (53, 199), (16, 29))
    for call in (clone, unshare):
        assert verdict(program, native, call[n], 0x3D0F00) == ALLOW  # what a new thread asks for
        assert verdict(program, native, call[n], 0x10000000 | 17) == EPERM
        assert verdict(program, native, call[n], 0x20000) == EPERM
    for call in (make_socket, pair):
        assert [verdict(program, native, call[n], f) for f in (1, 2, 10, 16)] == [ALLOW] * 4
        assert [verdict(program, native, call[n], f) for f in (0, 17, 38, 40)] == [EAFNOSUPPORT] * 4
    for request in (0x5412, 0x541C, 0x5412 | 1 << 32, 0x541C | 0xFFFF << 40):
        assert verdict(program, native, ioctl[n], 0, request) == EPERM
    assert verdict(program, native, ioctl[n], 0, 0x5401) == ALLOW


def test_foreign_architectures_are_killed(arch: str) -> None:
    program = seccomp.program(arch)
    for foreign in {0x40000003, 0x40000028, *ARCHITECTURES.values()} - {ARCHITECTURES[arch]}:
        assert verdict(program, foreign, 0) == KILL
    if arch == "x86_64":
        assert verdict(program, ARCHITECTURES[arch], 0x40000000) == KILL


def test_an_architecture_without_a_table_is_refused() -> None:
    with pytest.raises(OSError, match="riscv64"):
        seccomp.program("riscv64")


def test_no_number_is_in_two_lists(arch: str) -> None:
    numbers = [n[column(arch)] for table in (seccomp.REFUSED, seccomp.UNKNOWN) for n in table.values()]
    real = [n for n in numbers if n is not None]
    assert len(real) == len(set(real))
