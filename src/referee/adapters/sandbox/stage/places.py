"""Opening and making mount points without ever following a link."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

_WALK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class Unfit(OSError):
    """A path is not what it must be; the message names it and says what it should be."""


def components(path: str) -> list[str]:
    """The parts of a relative path. Raises `Unfit` for one that is absolute, climbs or is not normalised."""
    parts = path.split("/")
    if any(p in ("", ".", "..") for p in parts):
        raise Unfit(f"{path!r} is not a plain path")
    return parts


def find(root: int, path: str) -> int:
    """An O_PATH descriptor of the regular file or folder `path` below `root`; every part must be real."""
    fd, seen = os.dup(root), ""
    for part in components(path):
        seen = f"{seen}/{part}" if seen else part
        try:
            below = os.open(part, _WALK, dir_fd=fd)
        except OSError as e:
            raise Unfit(f"{path!r} cannot be opened at {seen!r}: {e.strerror}") from e
        finally:
            os.close(fd)
        fd = below
        mode = os.fstat(fd).st_mode
        if not (stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and seen == path)):
            os.close(fd)
            raise Unfit(f"{path!r} must be a real file in real folders, but {seen!r} is a {_kind(mode)}")
    return fd


def make(root: int, path: str, folder: bool) -> int:
    """The mount point `path` below `root`, made with its parents where missing; an O_PATH descriptor."""
    parts, fd = components(path), os.dup(root)
    for n, part in enumerate(parts):
        wants_folder = folder or n < len(parts) - 1
        try:
            _make_one(fd, part, wants_folder)
            below = os.open(part, _WALK, dir_fd=fd)
        except OSError as e:
            raise Unfit(f"no mount point {path!r}: {'/'.join(parts[: n + 1])}: {e.strerror}") from e
        finally:
            os.close(fd)
        fd = below
        if stat.S_ISDIR(os.fstat(fd).st_mode) != wants_folder or stat.S_ISLNK(os.fstat(fd).st_mode):
            os.close(fd)
            raise Unfit(f"no mount point {path!r}: {'/'.join(parts[: n + 1])} is of another kind or a link")
    return fd


def _make_one(fd: int, name: str, folder: bool) -> None:
    # A place that exists is fine even where nothing can be made (EROFS comes before EEXIST).
    with contextlib.suppress(FileNotFoundError):
        os.lstat(name, dir_fd=fd)
        return
    if folder:
        os.mkdir(name, 0o755, dir_fd=fd)
    else:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=fd))


def below_root(path: str) -> str:
    """An absolute path as one relative to the root. Raises `Unfit` for a relative one."""
    if not path.startswith("/"):
        raise Unfit(f"{path!r} must be absolute: it says where something is seen inside")
    return path[1:].rstrip("/")


def inside(path: str, folder: str) -> bool:
    """Whether `path` lies strictly below `folder`, by name."""
    return path.startswith(folder.rstrip("/") + "/")


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "symbolic link"
    return "regular file" if stat.S_ISREG(mode) else "special file"


def missing(error: OSError) -> bool:
    """Whether `error` says that there is nothing at the path."""
    return error.errno in (errno.ENOENT, errno.ENOTDIR)
