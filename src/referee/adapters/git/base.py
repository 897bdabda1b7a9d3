"""Bases: immutable copies of trees on disk, made by git from raw bytes, reused and moved forward by difference.

A base is a folder `.harness/base/TREE-USER-GROUP` (whose files they are) with `files/`, git's `index` of them and a
`lock`. The files include a `.git` of our own making (see `inside`). While a base is built or changed it is called
`partial-…`; only the last rename gives it its name, so a crash leaves nothing that looks whole.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from referee.adapters.git import inside
from referee.adapters.git.entry import REGULAR
from referee.adapters.git.names import decode, parents
from referee.adapters.git.private import Private, refused
from referee.adapters.git.root import FOLDER, remove
from referee.domain.errors import WorldFault

PARTIAL = b"partial-"


class Bases:
    """The bases of one repository. `owner` (user, group) gets the files when this process is root.

    `tags` says which tags the repository inside gets when a base is made.
    """

    def __init__(
        self, private: Private, owner: tuple[int, int] | None, tags: Callable[[], tuple[bytes, ...]] = tuple
    ) -> None:
        self._tags = tags
        self._private = private
        self._owner = owner if os.geteuid() == 0 else None
        self._folder = os.path.join(private.path, b"base")
        self._suffix = b"-%d-%d" % (self._owner or (os.geteuid(), os.getegid()))
        self._held: dict[str, int] = {}

    def path(self, tree: str) -> bytes:
        """The files of `tree`, held against removal until `close`."""
        try:
            with self._private.locked(b"base"):
                if tree not in self._held:
                    fd = self._find(tree)
                    self._held[tree] = self._make(tree) if fd is None else fd
        except OSError as error:
            raise refused(error, self._folder) from error
        return os.path.join(self._folder, self._name(tree), b"files")

    def close(self) -> None:
        """Let others reuse or remove the bases held."""
        for fd in self._held.values():
            os.close(fd)
        self._held.clear()

    def prune(self) -> None:
        """Remove what crashes left and all bases that nobody uses."""
        with self._private.locked(b"base"):
            for name in [*self._idle(partial=True), *self._idle()]:
                self._remove(name)

    def _find(self, tree: str) -> int | None:
        """A shared lock on a complete base, unless its files are no longer as they were made."""
        name = self._name(tree)
        fd = self._lock(name, fcntl.LOCK_SH)
        if fd is None:
            return None
        if self._intact(name):
            os.utime(os.path.join(self._folder, name))
            return fd
        os.close(fd)
        self._hide(name)  # another run may be using it; what is hidden goes when nobody does
        return None

    def _make(self, tree: str) -> int:
        for name in self._idle(partial=True):
            self._remove(name)
        idle = [name for name in self._idle() if name.endswith(self._suffix)]
        before = ""
        if idle and self._intact(idle[0]):
            partial = self._hide(idle[0])
            before = idle[0].removesuffix(self._suffix).decode()
        else:
            partial = PARTIAL + secrets.token_hex(8).encode()
            os.makedirs(os.path.join(self._folder, partial, b"files"), mode=0o755)
        whole = os.path.join(self._folder, partial)
        fd = os.open(os.path.join(whole, b"lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(fd, fcntl.LOCK_SH)
        try:
            self._fill(partial, before, tree)
            os.rename(whole, os.path.join(self._folder, self._name(tree)))
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _fill(self, partial: bytes, before: str, tree: str) -> None:
        files = os.path.join(self._folder, partial, b"files")
        with ThreadPoolExecutor(1, thread_name_prefix="base") as pool:
            furnished = pool.submit(lambda: inside.furnish(self._private, files, tree, before, self._tags()))
            self._check_out(partial, before, tree)
            furnished.result()
        if not self._intact(partial):
            raise WorldFault(f"the copy of tree {tree} is not complete; delete .harness/base and try again")
        shutil.copyfile(os.path.join(self._folder, partial, b"index"), os.path.join(files, inside.FOLDER, b"index"))
        if self._owner is not None:
            for where, _, names in os.walk(os.path.join(files, inside.FOLDER)):
                for path in (where, *(os.path.join(where, n) for n in names)):
                    os.chown(path, *self._owner, follow_symlinks=False)

    def _check_out(self, partial: bytes, before: str, tree: str) -> None:
        if before:
            self._git(partial, "read-tree", "--reset", "-u", tree)
        else:
            self._git(partial, "read-tree", tree)
            self._git(partial, "checkout-index", "--all", "--quiet", "--index")
        if self._owner is not None:
            all_of_it = (path for path, _ in listed(self._private, tree))
            self._give(partial, changed(self._private, before, tree) if before else all_of_it, self._owner)

    def _give(self, partial: bytes, paths: Iterable[bytes], owner: tuple[int, int]) -> None:
        files = os.path.join(self._folder, partial, b"files")
        os.chown(files, *owner)
        seen: set[bytes] = set()
        for path in paths:
            for folder in parents(path):
                if folder not in seen and os.path.isdir(os.path.join(files, folder)):
                    os.chown(os.path.join(files, folder), *owner, follow_symlinks=False)
                seen.add(folder)
            with suppress(FileNotFoundError, NotADirectoryError):  # deleted by the difference
                os.chown(os.path.join(files, path), *owner, follow_symlinks=False)

    def _intact(self, name: bytes) -> bool:
        """Whether git finds every file as it wrote it, and no other."""
        whole = os.path.join(self._folder, name)
        if not os.path.isfile(os.path.join(whole, b"index")) or not inside.furnished(os.path.join(whole, b"files")):
            return False
        try:
            self._git(name, "update-index", "--refresh")
            return not self._git(name, "ls-files", "-o", "-z")
        except WorldFault:
            return False

    def _git(self, name: bytes, *args: str) -> bytes:
        whole = os.path.join(self._folder, name)
        return self._private.git(*args, index=os.path.join(whole, b"index"), work_tree=os.path.join(whole, b"files"))

    def _idle(self, *, partial: bool = False) -> list[bytes]:
        """Bases that nobody uses, the one used last first."""
        names = [
            os.fsencode(e.name) for e in os.scandir(self._folder) if os.fsencode(e.name).startswith(PARTIAL) is partial
        ]
        free = []
        for name in names:
            fd = self._lock(name, fcntl.LOCK_EX)
            if fd is not None or not os.path.exists(os.path.join(self._folder, name, b"lock")):
                free.append(name)
            if fd is not None:
                os.close(fd)
        return sorted(free, key=lambda n: os.stat(os.path.join(self._folder, n)).st_mtime, reverse=True)

    def _name(self, tree: str) -> bytes:
        return tree.encode() + self._suffix

    def _lock(self, name: bytes, kind: int) -> int | None:
        try:
            fd = os.open(os.path.join(self._folder, name, b"lock"), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        return fd

    def _remove(self, name: bytes) -> None:
        """Out of sight first, so that a crash cannot leave half a base under a complete name."""
        doomed = name if name.startswith(PARTIAL) else self._hide(name)
        fd = os.open(self._folder, FOLDER)
        try:
            remove(fd, doomed)
        finally:
            os.close(fd)

    def _hide(self, name: bytes) -> bytes:
        hidden = PARTIAL + secrets.token_hex(8).encode()
        os.rename(os.path.join(self._folder, name), os.path.join(self._folder, hidden))
        return hidden


def listed(private: Private, tree: str) -> Iterator[tuple[bytes, str]]:
    """Every path of a tree with its kind, in git's order."""
    for line in private.git("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        yield path, facts[:6].decode()


def changed(private: Private, before: str, after: str) -> list[bytes]:
    """The paths in which two trees differ."""
    return private.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after).split(b"\0")[:-1]


def collapse(files: Iterable[tuple[bytes, str]], protected: Callable[[str], bool]) -> tuple[str, ...]:
    """The protected files, with a folder in place of its files wherever all of them are protected.

    A protected symlink keeps its folder whole but is not named itself: only real files and folders can be mounted. A
    folder with a package.json is not taken whole just because all that is in it now is protected: what is installed
    beside it must show.
    """
    guarded: list[tuple[bytes, str]] = []
    mixed: set[bytes] = set()
    for path, mode in files:
        if protected(decode(path)):
            guarded.append((path, mode))
            folder, _, name = path.rpartition(b"/")
            if name == b"package.json" and folder and not protected(decode(folder + b"/_")):
                mixed.update(parents(path))
        else:
            mixed.update(parents(path))
    chosen: set[bytes] = set()
    for path, mode in guarded:
        whole = next((folder for folder in parents(path) if folder not in mixed), None)
        if whole is not None:
            chosen.add(whole)
        elif mode in REGULAR:
            chosen.add(path)
    return tuple(sorted(decode(p) for p in chosen))
