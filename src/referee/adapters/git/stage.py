"""The stage of a landing: new contents wait here, and replaced files come here to be checked."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from referee.adapters.git.entry import EXECUTABLE, Entry
from referee.adapters.git.names import WorkPath, shown
from referee.adapters.git.rename import Place, Point, Renames, renames_for, settle
from referee.adapters.git.root import CONTENT, FOLDER, Root, observe, write_all
from referee.adapters.sync import sync_together
from referee.domain.value import Value

KEPT_ATTRIBUTES = (b"user.", b"system.posix_acl_access")


class Step(Value):
    """One path: what must be there, what shall be, and what git does not know of a file put back (else as now)."""

    path: WorkPath
    expect: Entry | None
    want: Entry | None
    permissions: int | None = None
    owner: tuple[int, int] | None = None
    attributes: tuple[tuple[bytes, bytes], ...] = ()


class Traits(Value):
    """What git does not know of a file: permission bits, user and group, extended attributes that are kept."""

    permissions: int
    owner: tuple[int, int]
    attributes: tuple[tuple[bytes, bytes], ...]


class Changed(Exception):
    """Somebody else changed a path between looking and acting."""


class Stage:
    """The open staging folder. Step `i` has the slot named `i`: first its new content, then the old file."""

    def __init__(self, path: bytes, root: Root, point: Point) -> None:
        self.fd = os.open(path, FOLDER)
        self._root = root
        self._point = point
        self._renames: Renames = renames_for(self.fd, point)

    def put(self, i: int, step: Step, data: bytes) -> None:
        """Stage the new content of a step with the permissions, owner and attributes it will have, not yet durably.

        Raises `Changed` if the file to replace is gone.
        """
        with self._root.parent_or_nearest(step.path) as (parent, name):
            try:
                old = _facts(parent, name) if step.expect else None
            except FileNotFoundError:
                raise Changed(shown(step.path)) from None
            fd = os.open(
                _slot(i), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _permissions(step), dir_fd=self.fd
            )
            try:
                write_all(fd, data)
                _own(fd, old or os.fstat(parent), None if old else step.owner)
                for attribute, value in step.attributes if old is None else _attributes(parent, name):
                    if attribute.startswith(KEPT_ATTRIBUTES):  # a record may come from anywhere
                        os.setxattr(fd, attribute, value)
                bits = step.permissions if step.permissions is not None else old and _bits(old.st_mode, step)
                if bits is not None:
                    os.fchmod(fd, bits)
            finally:
                os.close(fd)

    def write(self, name: bytes, data: bytes) -> None:
        """A file of the transaction's own in the stage, not yet durable."""
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=self.fd)
        try:
            write_all(fd, data)
        finally:
            os.close(fd)

    def sync(self, slots: Sequence[int], *names: bytes) -> None:
        """Make what was put into these slots, and files of these names, durable."""
        with ExitStack() as opened:
            fds = []
            for name in (*map(_slot, slots), *names):
                fds.append(os.open(name, CONTENT, dir_fd=self.fd))
                opened.callback(os.close, fds[-1])
            sync_together(fds)

    def settle(self, i: int) -> None:
        """End a swap that a crash interrupted, where the file system has no single step for it."""
        settle(Place(self.fd, _slot(i)))

    def do(self, i: int, step: Step) -> None:
        """Carry out one step if it is not done. Raises `Changed` if the path is not as expected, and leaves it so."""
        current = self._root.observe(step.path)
        if current == step.want:
            if self._slot(i) not in (None, step.expect, step.want):
                raise Changed(shown(step.path))
            return
        if current != step.expect:
            raise Changed(shown(step.path))
        try:
            with self._root.parent(step.path) as (parent, name):
                self._change(i, step, Place(parent, name))
        except (FileNotFoundError, FileExistsError, NotADirectoryError) as error:
            raise Changed(shown(step.path)) from error

    def undo(self, i: int, step: Step) -> None:
        """Put one path back if it is as the step left it; otherwise leave it alone."""
        slot, current = self._slot(i), self._root.observe(step.path)
        if current != step.want:
            return
        try:
            with self._root.parent(step.path) as (parent, name):
                self._put_back(i, step, slot, Place(parent, name))
        except (FileNotFoundError, FileExistsError, NotADirectoryError):
            return  # somebody is at work there: what is in the stage is rescued

    def foreign(self, i: int, step: Step) -> bool:
        """Whether the slot holds what is neither the old nor the new content: somebody's own writing."""
        return self._slot(i) not in (None, step.expect, step.want)

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self.fd)

    def _change(self, i: int, step: Step, target: Place) -> None:
        staged = Place(self.fd, _slot(i))
        self._point("file compared")
        if step.want is None:
            self._renames.move(target, staged)
        elif step.expect is None:
            self._renames.move(staged, target)
        else:
            self._renames.exchange(staged, target)
        self._point("file changed places")
        if step.expect is None or self._slot(i) == step.expect:
            return
        if step.want is None:
            self._renames.move(staged, target)
        else:
            self._renames.exchange(staged, target)
        self._point("file changed back")
        raise Changed(shown(step.path))

    def _put_back(self, i: int, step: Step, slot: Entry | None, target: Place) -> None:
        staged = Place(self.fd, _slot(i))
        if step.want is None:
            if slot is not None:
                self._renames.move(staged, target)
        elif step.expect is None:
            if slot is None:
                self._renames.move(target, staged)
                if self._slot(i) != step.want:
                    self._renames.move(staged, target)
        elif slot is not None and slot != step.want:
            self._renames.exchange(staged, target)
            if self._slot(i) != step.want:
                self._renames.exchange(staged, target)
        self._point("file put back")

    def _slot(self, i: int) -> Entry | None:
        return observe(self.fd, _slot(i), self._root.algorithm)


def traits(root: Root, path: bytes) -> Traits:
    """What has to be put back with the file at `path`. Raises FileNotFoundError if there is none."""
    with root.parent(path) as (parent, name):
        facts = _facts(parent, name)
        return Traits(
            permissions=stat.S_IMODE(facts.st_mode),
            owner=(facts.st_uid, facts.st_gid),
            attributes=_attributes(parent, name),
        )


def _slot(i: int) -> bytes:
    return b"%d" % i


def _facts(parent: int, name: bytes) -> os.stat_result:
    return os.stat(name, dir_fd=parent, follow_symlinks=False)


def _permissions(step: Step) -> int:
    """What a new file asks for; the umask of this process takes its part."""
    return 0o777 if step.want is not None and step.want.mode == EXECUTABLE else 0o666


def _bits(old: int, step: Step) -> int:
    """The old file's permissions, changed only if executability is."""
    bits = stat.S_IMODE(old)
    was, shall = bool(bits & 0o100), step.want is not None and step.want.mode == EXECUTABLE
    if shall and not was:
        return bits | (bits & 0o444) >> 2
    return bits & ~0o111 if was and not shall else bits


def _own(fd: int, like: os.stat_result, owner: tuple[int, int] | None) -> None:
    """The owner and group of the file replaced or put back; as root, a new file goes to whom its folder belongs."""
    now = os.fstat(fd)
    user, group = owner or (like.st_uid, like.st_gid)
    user = user if os.geteuid() == 0 else now.st_uid
    if (now.st_uid, now.st_gid) != (user, group):
        os.fchown(fd, user, group)


def _attributes(parent: int, name: bytes) -> tuple[tuple[bytes, bytes], ...]:
    if sys.platform != "linux":
        return ()
    source = os.open(name, CONTENT, dir_fd=parent)
    try:
        names = map(os.fsencode, os.listxattr(source))
        return tuple((name, os.getxattr(source, name)) for name in names if name.startswith(KEPT_ATTRIBUTES))
    except OSError as error:
        if error.errno != errno.ENOTSUP:  # a file system without attributes has none to keep
            raise
        return ()
    finally:
        os.close(source)
