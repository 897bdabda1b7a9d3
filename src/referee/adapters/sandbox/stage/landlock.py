"""Landlock: rules of the kernel's own on which files a process may touch, for those who may make no namespace."""

from __future__ import annotations

import os
import stat
import struct

from . import kernel, places

_EXECUTE, _WRITE, _READ, _LIST, _RMDIR, _UNLINK = (1 << n for n in range(6))
_MKDIR, _MAKE, _SOCKET, _FIFO, _LINK, _REFER, _TRUNCATE, _IOCTL = (1 << n for n in (7, 8, 9, 10, 12, 13, 14, 15))
_ON_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
LOOK = _EXECUTE | _READ | _LIST
_DEVICE = _READ | _WRITE | _IOCTL
_CHANGE = LOOK | _WRITE | _TRUNCATE | _RMDIR | _UNLINK | _MKDIR | _MAKE | _SOCKET | _FIFO | _LINK | _REFER
_NO_TCP, _SCOPED = 3, 3  # neither bind nor connect; neither abstract sockets nor signals beyond ourselves

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sys/devices/system/cpu",
    "/etc/alternatives", "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/fonts",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
    "/etc/hosts", "/etc/protocols", "/etc/services", "/etc/mime.types", "/etc/localtime", "/etc/timezone",
    "/etc/ssl/openssl.cnf",
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def handled(abi: int) -> tuple[int, int, int]:
    """What rules of this ABI can forbid: accesses to files, uses of TCP, and scopes."""
    files = (1 << 13) - 1
    for since, access in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL)):
        files |= access if abi >= since else 0
    return files, _NO_TCP if abi >= 4 else 0, _SCOPED if abi >= 6 else 0


class Rules:
    """Everything is forbidden but what is granted here; `enforce` makes it so, for good."""

    def __init__(self, abi: int) -> None:
        self._files, network, scopes = handled(abi)
        size = 8 if abi < 4 else 16 if abi < 6 else 24  # an older kernel refuses fields that it does not know
        record = struct.pack("QQQ", self._files, network, scopes)[:size]
        self._fd = kernel.landlock_ruleset(record)

    def grant(self, path: str, access: int) -> None:
        """Allow `access` to `path` and all below it. Raises `OSError` if it is not there or out of our own reach."""
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            allowed = access & self._files
            folder = stat.S_ISDIR(os.fstat(fd).st_mode)
            kernel.landlock_allow(self._fd, allowed if folder else allowed & _ON_FILES, fd)
        finally:
            os.close(fd)

    def grant_tree(self, root: str, protected: tuple[str, ...]) -> None:
        """Allow changes below `root` but for the `protected` paths, and but for making new things beside those.

        A rule holds for all that is below it, so the folders on the way to a protected path get none of their own.
        """
        inside: dict[str, list[str]] = {}
        for path in protected:
            first, _, rest = path.partition("/")
            inside.setdefault(first, []).append(rest)
        if not inside:
            self.grant(root, _CHANGE)
            return
        with os.scandir(root) as entries:
            for entry in entries:
                rests = inside.get(entry.name)
                if entry.is_symlink() or (rests is not None and "" in rests):
                    continue
                self.grant_tree(entry.path, tuple(rests)) if rests else self.grant(entry.path, _CHANGE)

    def enforce(self) -> None:
        """Put this process and all that it starts under these rules. Needs no_new_privs."""
        kernel.landlock_enforce(self._fd)
        os.close(self._fd)


def confine(shown: tuple[str, ...], writable: tuple[str, ...], tree: str, protected: tuple[str, ...]) -> None:
    """Leave this process, and all that it starts, the system and `shown` to read, `writable` and `tree` to change.

    Raises `OSError` if the kernel has no Landlock, or if one of these is not there or out of our own reach.
    """
    abi = kernel.landlock_version()
    if abi == 0:
        raise OSError("this kernel has no Landlock, or has it switched off")
    rules = Rules(abi)
    present = (path for path in SYSTEM if os.path.exists(path))
    for paths, access in (((*present, *shown), LOOK), (_DEVICES, _DEVICE), (writable, _CHANGE)):
        for path in paths:
            rules.grant(path, access)
    if tree:
        rules.grant(tree, LOOK)
        rules.grant_tree(tree, tuple("/".join(places.components(p)) for p in protected))
    kernel.set_no_new_privileges()
    rules.enforce()
