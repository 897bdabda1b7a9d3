"""Applying a patch from inside, where a hostile path reaches nothing but the sandbox's own tree."""

from __future__ import annotations

import contextlib
import os
import stat

from . import places
from .request import Change

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20


def apply(root: str, changes: tuple[Change, ...], source: int, offset: int) -> None:
    """Write `changes` below `root`, deletions first; contents follow each other in `source` from `offset`."""
    top = os.open(root, _FOLDER)
    for change in changes:
        if change.size is None:
            _delete(top, change.path)
    for change in changes:
        if change.size is not None:
            _write(top, change, source, offset)
            offset += change.size
    os.close(top)


def _parent(top: int, path: str, make: bool) -> tuple[int, str]:
    """The folder that holds `path`, reached through real folders only, and the last part of the name."""
    *folders, name = places.components(path)
    fd = os.dup(top)
    for part in folders:
        try:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=fd)
            below = os.open(part, _FOLDER, dir_fd=fd)
        except OSError as e:
            raise places.Unfit(f"the patch cannot write {path!r}: {part!r}: {e.strerror}") from e
        finally:
            os.close(fd)
        fd = below
    return fd, name


def _delete(top: int, path: str) -> None:
    """Remove a file, and the folders that it leaves empty, as a tree that lacks it would look."""
    folder, name = _parent(top, path, make=False)
    try:
        os.unlink(name, dir_fd=folder)
    except OSError as e:
        raise places.Unfit(f"the patch cannot delete {path!r}: {e.strerror}") from e
    finally:
        os.close(folder)
    parts = places.components(path)[:-1]
    while parts:
        folder, name = _parent(top, "/".join(parts), make=False)
        try:
            os.rmdir(name, dir_fd=folder)
        except OSError:
            return
        finally:
            os.close(folder)
        parts.pop()


def _write(top: int, change: Change, source: int, offset: int) -> None:
    folder, name = _parent(top, change.path, make=True)
    try:
        _make_room(folder, name)
        target = os.open(name, _CREATE, 0o755 if change.executable else 0o644, dir_fd=folder)
    except OSError as e:
        raise places.Unfit(f"the patch cannot write {change.path!r}: {e.strerror}") from e
    finally:
        os.close(folder)
    left = change.size or 0
    while left:
        data = os.pread(source, min(left, _CHUNK), offset)
        if not data:
            raise places.Unfit(f"the contents of {change.path!r} are cut short")
        view = memoryview(data)
        while view:
            view = view[os.write(target, view) :]
        offset, left = offset + len(data), left - len(data)
    os.close(target)


def _make_room(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
            os.rmdir(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)
