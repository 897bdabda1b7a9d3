"""The command line of bubblewrap for one request."""

from __future__ import annotations

import os

from referee.adapters.sandbox.stage import places, system
from referee.adapters.sandbox.stage.request import Bind, Request
from referee.adapters.sandbox.stage.view import BASE

_ISOLATION = (
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--disable-userns", "--hostname", system.HOSTNAME, "--die-with-parent", "--new-session", "--cap-drop", "ALL",
)  # fmt: skip
_EMPTY = ("/home", "/mnt", "/opt", "/root", "/srv", "/sys", "/var")


def arguments(inner: Request, binds: list[Bind], filter_fd: int) -> list[str]:
    """Isolate everything, show `binds` and the base's protected paths read-only, bound all that is writable."""
    argv = [*_ISOLATION, "--seccomp", str(filter_fd), "--ro-bind", "/usr", "/usr"]
    for path in system.MERGED:
        if os.path.islink(path):
            argv += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            argv += ["--ro-bind", path, path]
    for path in _EMPTY:
        argv += ["--dir", path]
    argv += ["--symlink", "/tmp", "/var/tmp", "--proc", "/proc", "--dev", "/dev", "--dir", "/run"]  # noqa: S108
    argv += _writable(inner)
    argv += _shown(inner, binds)
    return [*argv, "--remount-ro", "/dev", "--remount-ro", "/"]


def rooms(inner: Request) -> dict[str, int]:
    """Bounded file systems, by path with their bytes, outer ones first; together they hold no more than the limit.

    Folders on the way to a protected path are file systems of their own: a mount point cannot be renamed.
    """
    disk, lower = inner.bounds.disk, inner.lower
    sizes = {"/tmp": disk // 4, "/dev/shm": disk // 8, system.HOME: disk // 8}  # noqa: S108
    if lower:
        own = [lower.mount_at, *(f"{lower.mount_at}/{folder}" for folder in _ways(lower.protected))]
        sizes |= dict.fromkeys(own, disk // 2 // len(own))
    return {path: sizes[path] for path in sorted(sizes, key=lambda p: p.count("/"))}


def _writable(inner: Request) -> list[str]:
    argv: list[str] = []
    for path, size in rooms(inner).items():
        mode = "0700" if path == system.HOME else "1777" if path in ("/tmp", "/dev/shm") else "0755"  # noqa: S108
        argv += ["--perms", mode, "--size", str(size), "--tmpfs", path]
    return argv


def _ways(protected: tuple[str, ...]) -> list[str]:
    """All folders that lead to the protected paths."""
    parts = [places.components(path) for path in protected]
    return sorted({"/".join(p[:n]) for p in parts for n in range(1, len(p))})


def _shown(inner: Request, binds: list[Bind]) -> list[str]:
    argv: list[str] = []
    for bind in sorted(binds, key=lambda b: b.target.count("/")):
        argv += ["--ro-bind", bind.source, bind.target]
        if bind.target == "/etc":
            argv += [a for path in system.ETC_FOLDERS if os.path.isdir(path) for a in ("--ro-bind", path, path)]
    base = next((b.source for b in binds if b.target == BASE), "")
    if inner.lower:
        for path in inner.lower.protected:
            plain = "/".join(places.components(path))
            argv += ["--ro-bind", f"{base}/{plain}", f"{inner.lower.mount_at}/{plain}"]
    return argv
