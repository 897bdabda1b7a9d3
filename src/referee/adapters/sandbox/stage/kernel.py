"""System calls that Python does not wrap, each raising `OSError` with the name of the call in it."""

from __future__ import annotations

import ctypes
import os
import platform
import struct

ARCH = platform.machine()

CLONE_NEWTIME, CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x80, 0x20000, 0x2000000, 0x4000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x8000000, 0x10000000, 0x20000000, 0x40000000
ALL_NAMESPACES = (
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
)

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_PRIVATE = 2, 4, 8, 1 << 18
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_NOEXEC = 1, 2, 4, 8

_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE_CLONE, _MOVE_FROM_EMPTY, _MOVE_TO_EMPTY = 1, 0x4, 0x40
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, _PR_SET_CHILD_SUBREAPER = 47, 4, 36
_CAPABILITY_VERSION_3 = 0x20080522
_SECCOMP_SET_MODE_FILTER = 1
_MNT_DETACH, _MS_REC = 2, 0x4000

# (x86-64, aarch64); calls added since 2019 have the same number everywhere.
_NUMBERS = {"pivot_root": (155, 41), "capset": (126, 91), "seccomp": (317, 277)}
_PIDFD_GETFD = 438
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _number(name: str) -> int:
    return _NUMBERS[name][1 if ARCH == "aarch64" else 0]


def _call(what: str, number: int, *arguments: object) -> int:
    """A raw system call; integers are widened, or the upper half of a register is left undefined."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _check(_libc.syscall(ctypes.c_long(number), *wide), what)


def mount(kind: str, target: str, flags: int, options: str = "") -> None:
    """mount(2) of a new file system of `kind` at `target`, as seen from the current root."""
    fs = kind.encode()
    result = _libc.mount(fs, os.fsencode(target), fs, ctypes.c_ulong(flags), options.encode() or None)
    _check(result, f"mount {kind} on {target}")


def make_private(target: str) -> None:
    """Cut the mounts from `target` down off from those of other namespaces."""
    flags = ctypes.c_ulong(_MS_REC | MS_PRIVATE)
    _check(_libc.mount(b"none", os.fsencode(target), None, flags, None), f"make {target} private")


def detach(target: str) -> None:
    """Take a mount and all below it out of this namespace."""
    _check(_libc.umount2(os.fsencode(target), _MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root of the mount namespace and hang the old one at `old`."""
    _call("pivot_root", _number("pivot_root"), os.fsencode(new), os.fsencode(old))


def clone_tree(path: str, attributes: int) -> int:
    """A detached copy of the mounts at `path` (links followed) with `attributes` set on each; a descriptor."""
    flags = _OPEN_TREE_CLONE | _AT_RECURSIVE | os.O_CLOEXEC
    tree = _call(f"open_tree {path}", _OPEN_TREE, _AT_FDCWD, os.fsencode(path), flags)
    set_attributes(tree, attributes)
    return tree


def clone_open(fd: int, attributes: int) -> int:
    """`clone_tree` of an open file or folder, so that no path is walked again."""
    flags = _OPEN_TREE_CLONE | _AT_RECURSIVE | _AT_EMPTY_PATH | os.O_CLOEXEC
    tree = _call("open_tree", _OPEN_TREE, fd, b"", flags)
    set_attributes(tree, attributes)
    return tree


def set_attributes(fd: int, attributes: int, recursive: bool = True) -> None:
    """Set mount attributes on the mount that `fd` is in (and on those below it), and cut it off from its origin."""
    record = struct.pack("QQQQ", attributes, 0, MS_PRIVATE, 0)
    flags = _AT_EMPTY_PATH | (_AT_RECURSIVE if recursive else 0)
    _call("mount_setattr", _MOUNT_SETATTR, fd, b"", flags, record, len(record))


def attach(tree: int, target: int) -> None:
    """Hang a detached tree over the open file or folder `target`; both are descriptors."""
    _call("move_mount", _MOVE_MOUNT, tree, b"", target, b"", _MOVE_FROM_EMPTY | _MOVE_TO_EMPTY)


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for new ones."""
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def set_hostname(name: str) -> None:
    """Name this UTS namespace."""
    raw = name.encode()
    _check(_libc.sethostname(raw, ctypes.c_size_t(len(raw))), "sethostname")


def _prctl(what: str, option: int, argument: int, third: int = 0) -> None:
    zero = ctypes.c_ulong(0)
    result = _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(argument), ctypes.c_ulong(third), zero, zero)
    _check(result, f"prctl {what}")


def die_with_parent() -> None:
    """Ask for SIGKILL when the parent dies. Changing credentials undoes it."""
    _prctl("PDEATHSIG", _PR_SET_PDEATHSIG, 9)


def set_dumpable(dumpable: bool) -> None:
    """Whether processes of the same user may read this one's memory and environment."""
    _prctl("DUMPABLE", _PR_SET_DUMPABLE, int(dumpable))


def set_no_new_privileges() -> None:
    """No set-user-id file or file capability takes effect from here on."""
    _prctl("NO_NEW_PRIVS", _PR_SET_NO_NEW_PRIVS, 1)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    _prctl("CHILD_SUBREAPER", _PR_SET_CHILD_SUBREAPER, 1)


def bound_capabilities() -> None:
    """See to it that no program started from here on can gain a capability; this process keeps its own."""
    with open("/proc/sys/kernel/cap_last_cap", encoding="utf-8") as f:
        last = int(f.read())
    for capability in range(last + 1):
        _prctl("CAPBSET_DROP", _PR_CAPBSET_DROP, capability)
    _prctl("CAP_AMBIENT", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)


def drop_capabilities() -> None:
    """Give up every capability."""
    _call("capset", _number("capset"), struct.pack("II", _CAPABILITY_VERSION_3, 0), bytes(24))


def take_descriptor(process: int, number: int) -> int:
    """A copy of descriptor `number` of the process that the pidfd `process` names; -1 if it cannot be had."""
    return int(_libc.syscall(ctypes.c_long(_PIDFD_GETFD), *(ctypes.c_long(n) for n in (process, number, 0))))


def install_filter(program: bytes) -> None:
    """Put a seccomp program (8 bytes an instruction) in front of all further system calls."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    _call("seccomp", _number("seccomp"), _SECCOMP_SET_MODE_FILTER, 0, header)


def landlock_version() -> int:
    """The ABI of Landlock that this kernel speaks, from 1; 0 if it has none or it is switched off."""
    try:
        return _call("landlock_create_ruleset", _LANDLOCK_CREATE, None, 0, 1)
    except OSError:
        return 0


def landlock_ruleset(handled: bytes) -> int:
    """A descriptor of new rules, which forbid what `handled` names until something is allowed."""
    return _call("landlock_create_ruleset", _LANDLOCK_CREATE, handled, len(handled), 0)


def landlock_allow(rules: int, access: int, below: int) -> None:
    """Allow `access` to the open file or folder `below` and all that is in it."""
    rule = struct.pack("=Qi", access, below)
    _call("landlock_add_rule", _LANDLOCK_ADD, rules, 1, rule, 0)


def landlock_enforce(rules: int) -> None:
    """Put this process and all it starts under `rules`, for good. Needs no_new_privs."""
    _call("landlock_restrict_self", _LANDLOCK_RESTRICT, rules, 0)
