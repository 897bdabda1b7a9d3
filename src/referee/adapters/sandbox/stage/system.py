"""The part of a sandbox's root that is the same for every command: /usr, a made-up /etc, /dev, /proc."""

from __future__ import annotations

import os
import stat

from . import kernel

USER, HOME, HOSTNAME = "sandbox", "/home/sandbox", "sandbox"

_READ_ONLY = kernel.ATTR_RDONLY | kernel.ATTR_NOSUID | kernel.ATTR_NODEV
_DEVICE = kernel.ATTR_RDONLY | kernel.ATTR_NOSUID | kernel.ATTR_NOEXEC
MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")  # links into /usr, or folders of their own
ETC_FOLDERS = ("/etc/alternatives", "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/fonts")
_ETC_FILES = ("ld.so.cache", "ld.so.conf", "protocols", "services", "mime.types", "timezone", "ssl/openssl.cnf")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_EMPTY = ("dev", "dev/pts", "etc", "etc/ssl", "home", "mnt", "opt", "proc", "root", "run", "srv", "sys", "var")
_LINKS: dict[str, str] = {
    "dev/fd": "/proc/self/fd", "dev/stdin": "/proc/self/fd/0", "dev/stdout": "/proc/self/fd/1",
    "dev/stderr": "/proc/self/fd/2", "dev/ptmx": "pts/ptmx", "etc/mtab": "/proc/self/mounts", "var/tmp": "/tmp",  # noqa: S108
    "var/run": "/run",
}  # fmt: skip
_ZONES = "/usr/share/zoneinfo/"


def _clones() -> dict[str, int]:
    """Detached copies of the host's folders and devices that every sandbox shows, by path."""
    trees = {f"/dev/{name}": kernel.clone_tree(f"/dev/{name}", _DEVICE) for name in _DEVICES}
    trees["/usr"] = kernel.clone_tree("/usr", _READ_ONLY)
    for path in (*MERGED, *ETC_FOLDERS):
        if os.path.isdir(path) and not os.path.islink(path):
            trees[path] = kernel.clone_tree(path, _READ_ONLY)
    return trees


def build(root: str) -> None:
    """Fill the empty file system at `root`; the old root is still in place."""
    for path in _EMPTY:
        os.mkdir(f"{root}/{path}")
    for path, tree in _clones().items():
        _hang(tree, root + path, folder=not path.startswith("/dev/"))
    for path in MERGED:
        if os.path.islink(path):
            os.symlink(os.readlink(path), root + path)
    for path, target in _LINKS.items():
        os.symlink(target, f"{root}/{path}")
    write_etc(root, os.getuid(), os.getgid())
    flags = kernel.MS_NOSUID | kernel.MS_NOEXEC
    kernel.mount("proc", f"{root}/proc", flags | kernel.MS_NODEV)
    kernel.mount("devpts", f"{root}/dev/pts", flags, "newinstance,ptmxmode=0666,mode=620")


def _hang(tree: int, target: str, folder: bool) -> None:
    if folder:
        os.makedirs(target, exist_ok=True)
    else:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))
    place = os.open(target, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    kernel.attach(tree, place)
    os.close(place)
    os.close(tree)


def write_etc(root: str, uid: int, gid: int) -> None:
    """Fill `root`/etc with what programs look for there: made up, or copied if it says nothing of the host."""
    users = {0: ("root", "/root"), 65534: ("nobody", "/nonexistent"), uid: (USER, HOME)}
    groups = {0: "root", 65534: "nogroup", gid: USER}
    made = {
        "passwd": "".join(f"{n}:x:{u}:{gid if u == uid else u}::{h}:/bin/sh\n" for u, (n, h) in users.items()),
        "group": "".join(f"{name}:x:{g}:\n" for g, name in groups.items()),
        "hosts": f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost {HOSTNAME}\n",
        "hostname": f"{HOSTNAME}\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n",
    }
    for name, text in made.items():
        _write(f"{root}/etc/{name}", text.encode())
    for name in _ETC_FILES:
        if os.path.isfile(f"/etc/{name}"):
            _write(f"{root}/etc/{name}", _read(f"/etc/{name}"))
    _zone(root)


def _zone(root: str) -> None:
    """The local time zone: a link if the host has one into /usr, else a copy."""
    try:
        target = os.path.normpath(os.path.join("/etc", os.readlink("/etc/localtime")))
    except OSError:
        target = ""
    if target.startswith(_ZONES):
        os.symlink(target, f"{root}/etc/localtime")
    elif os.path.exists("/etc/localtime") and stat.S_ISREG(os.stat("/etc/localtime").st_mode):
        _write(f"{root}/etc/localtime", _read("/etc/localtime"))


def _read(path: str) -> bytes:
    with open(path, "rb") as f:
        return f.read()


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as f:
        f.write(data)
