"""Changing a protected path by ordinary means. The host looks at it afterwards, from where it always was."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os

from .registry import Scene, attack, shell
from .system import NUMBERS, libc, system_call

shell("files", {
    "write": "echo pwn > $T",
    "change the mode and write": "chmod 777 protected; chmod 666 $T; echo pwn > $T",
    "append": "echo pwn >> $T",
    "truncate": ": > $T",
    "unlink": "rm -f $T",
    "create a sibling": "echo pwn > protected/conftest.py",
    "rename the file away": "mv $T protected/other",
    "rename over the file": "echo pwn > new; mv -f new $T",
    "rename the folder": "mv protected elsewhere; mkdir protected; echo pwn > $T",
    "rename over the folder": "mkdir evil; echo pwn > evil/inner; rm -rf protected; mv -T evil protected",
    "put a link in its place": "mkdir evil; echo pwn > evil/inner; rm -rf protected; ln -sfn evil protected",
    "remove everything": 'rm -rf "$ROOT"/*',
    "rename the parent": 'mv "$ROOT" "$ROOT-moved" && mkdir -p "$ROOT/protected" && echo pwn > "$ROOT/$T"',
    "write through a hard link": "ln $T link && echo pwn > link",
    "write through a hard link elsewhere": "ln $T /tmp/link-$$ && echo pwn > /tmp/link-$$; rm -f /tmp/link-$$",
    "reopen a descriptor for writing": "exec 9<$T; echo pwn > /proc/self/fd/9",
    "write through another process's root": 'echo pwn > "/proc/$$/root$ROOT/$T"',
    "write through another process's folder": "echo pwn > /proc/$PPID/cwd/$T",
    "become another user and write": "chown $(id -u) protected $T; su -c true </dev/null; chmod u+w $T; echo pwn > $T",
})  # fmt: skip


shell("files", {"write through the root of process 1": 'echo pwn > "/proc/1/root$ROOT/$T"'},
      needed="a process 1 that root may look into")  # fmt: skip


@attack("files", "swap the folder in one step")
def exchange(scene: Scene) -> object:
    """renameat2 with RENAME_EXCHANGE, which needs no moment at which the name is free."""
    os.mkdir("evil")
    with open("evil/inner", "w", encoding="utf-8") as f:
        f.write("pwn")
    system_call(NUMBERS["renameat2"], -100, b"evil", -100, b"protected", 2)
    return None


@attack("files", "write through a shared mapping")
def mapping(scene: Scene) -> object:
    """What is open for reading is made writable afterwards, in memory."""
    fd = os.open("protected/inner", os.O_RDWR)
    with mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE) as area:
        area[:3] = b"pwn"
    return None


@attack("files", "write through a file handle", control="root")
def handle(scene: Scene) -> object:
    """name_to_handle_at and open_by_handle_at reach a file past every mount over it."""
    raw = ctypes.create_string_buffer(b"\x80\x00\x00\x00" + bytes(132))
    mount_id = ctypes.c_int()
    where = os.open(scene["root"], os.O_RDONLY)
    system_call(NUMBERS["name_to_handle_at"], -100, b"protected/inner", raw, ctypes.addressof(mount_id), 0)
    fd = system_call(NUMBERS["open_by_handle_at"], where, raw, os.O_WRONLY | os.O_TRUNC)
    return os.write(fd, b"pwn")


@attack("files", "link an unnamed file over it")
def unnamed(scene: Scene) -> object:
    """O_TMPFILE, then a link into the protected folder."""
    fd = os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o644)
    os.write(fd, b"pwn")
    here = os.open(".", os.O_RDONLY)  # without which Python asks for the link itself
    os.link(f"/proc/self/fd/{fd}", "protected/planted", src_dir_fd=here, follow_symlinks=True)
    return None


@attack("files", "race a link against the write")
def race(scene: Scene) -> object:
    """A name in the workspace alternates between a plain file and a link to the protected one."""
    for n in range(200):
        with contextlib.suppress(OSError):
            os.symlink("protected/inner", f"swap-{n}")
            os.replace(f"swap-{n}", "swap")
        with contextlib.suppress(OSError), open("swap", "w", encoding="utf-8") as f:
            f.write("pwn")
    return None


@attack("files", "set its times")
def times(scene: Scene) -> object:
    """A build tool would take it for changed, or for unchanged."""
    os.utime("protected/inner", (1, 1))
    return None


@attack("files", "set an extended attribute on it")
def attribute(scene: Scene) -> object:
    """Also attributes that an overlay takes for its own."""
    for path in ("protected/inner", "protected", "."):
        for name in ("user.evil", "user.overlay.opaque", "user.overlay.redirect", "trusted.overlay.opaque"):
            with contextlib.suppress(OSError):
                os.setxattr(path, name, b"y")
    return None


@attack("files", "punch a hole in it")
def hole(scene: Scene) -> object:
    """fallocate on a descriptor that was opened without asking to write."""
    for how in (os.O_RDWR, os.O_WRONLY | os.O_APPEND):
        with contextlib.suppress(OSError):
            fd = os.open("protected/inner", how)
            libc.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(4))
            os.ftruncate(fd, 1)
    return None


@attack("files", "write to what the sandbox shows of the host")
def shown(scene: Scene) -> object:
    """A read-only dependency folder."""
    for path in (scene["tools"], f"{scene['tools']}/module.py", f"{scene['tools']}/new.py"):
        with contextlib.suppress(OSError):
            os.chmod(path, 0o777)
        with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as f:
            f.write("pwn")
    return None


@attack("files", "write to the host by its own path")
def outside(scene: Scene) -> object:
    """The path of a folder of the host, and climbing to it, and through a link in the base."""
    for path in (scene["outside"], f"{scene['root']}/../../../../../..{scene['outside']}", f"{scene['root']}/way-out"):
        with contextlib.suppress(OSError), open(f"{path}/planted", "w", encoding="utf-8") as f:
            f.write("pwn")
    return None
