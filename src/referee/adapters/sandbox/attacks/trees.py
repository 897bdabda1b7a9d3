"""What a folder of the host looks like, to the last attribute."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat

_MOST = 1 << 20


def picture(root: str) -> dict[str, str]:
    """Every path below `root`, and what there is to know about it, in a line."""
    seen = {".": _line(root)}
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            seen[os.path.relpath(path, root)] = _line(path)
    return seen


def difference(before: dict[str, str], after: dict[str, str]) -> str:
    """The first path that is not as it was, in words; empty if all are."""
    for path in sorted(before.keys() | after.keys()):
        if path not in after:
            return f"{path} is gone"
        if path not in before:
            return f"{path} is new"
        if before[path] != after[path]:
            return f"{path} is changed"
    return ""


def _line(path: str) -> str:
    about = os.lstat(path)
    # A folder's own times change when something in it does; that something is seen by itself.
    when = 0 if stat.S_ISDIR(about.st_mode) else about.st_mtime_ns
    parts = [oct(about.st_mode), about.st_uid, about.st_gid, when]
    with contextlib.suppress(OSError):
        parts += sorted(os.listxattr(path, follow_symlinks=False))
    if stat.S_ISLNK(about.st_mode):
        parts.append(os.readlink(path))
    elif stat.S_ISREG(about.st_mode):
        parts += [about.st_size, _digest(path)]
    return " ".join(map(str, parts))


def _digest(path: str) -> str:
    with open(path, "rb") as f:
        return hashlib.sha256(f.read(_MOST)).hexdigest()
