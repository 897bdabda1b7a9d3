"""The user's index: single entries are replaced under git's own lock; everything else staged stays as it is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from time import sleep
from typing import NamedTuple

from referee.adapters.git.entry import Entry
from referee.adapters.git.history import History
from referee.adapters.git.names import WorkPath, shown
from referee.adapters.sync import sync_folder
from referee.domain.errors import UsageError
from referee.domain.value import Value

LOCK_TRIES, LOCK_SECONDS = 40, 0.05


class Restaged(Value):
    """One entry of the index: what it must be, and what it shall be."""

    path: WorkPath
    before: Entry | None
    after: Entry | None


class Staged(NamedTuple):
    """An entry of the index with its flags: `h` is assume-unchanged, `S` skip-worktree, `s` both."""

    entry: Entry
    flag: str


class Index:
    """The index of one work tree."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._path = os.path.join(history.folder, b"index")
        self._mark = os.path.join(history.folder, b"referee.lock")
        self._next = os.path.join(history.folder, b"referee.index")

    def entries(self, paths: Sequence[bytes]) -> dict[bytes, Staged]:
        """What is staged at `paths`."""
        found = {}
        out = self._history.must("ls-files", "-z", "-s", "-v", b"--", *paths) if paths else b""
        for line in out.split(b"\0")[:-1]:
            facts, _, path = line.partition(b"\t")
            flag, mode, oid, _ = facts.decode().split(" ")
            found[path] = Staged(Entry(mode, oid), flag)
        return found

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold git's lock of the index. Raises `UsageError` if another git command keeps it for two seconds.

        The lock is a second name of a file of ours, so that what a crash left behind is known as ours (`free`).
        """
        self.free()
        lock = self._path + b".lock"
        with open(self._mark, "wb"):
            pass
        try:
            for _ in range(LOCK_TRIES):
                with suppress(FileExistsError):
                    os.link(self._mark, lock)
                    break
                sleep(LOCK_SECONDS)
            else:
                raise UsageError(
                    f"another git command is running here; wait for it, or delete {shown(lock)} if none is"
                )
            yield
        finally:
            self.free()

    def free(self) -> None:
        """Let go of the lock, also of one that a crash left; another's lock stays."""
        lock = self._path + b".lock"
        with suppress(FileNotFoundError):
            if os.path.samefile(lock, self._mark):
                os.unlink(lock)
        for left in (self._next, self._next + b".lock", self._mark):
            with suppress(FileNotFoundError):
                os.unlink(left)

    def prepare(self, changes: Sequence[Restaged]) -> bool:
        """Make the next index, beside the present one, under the lock. False if an entry is not as expected."""
        with suppress(FileNotFoundError):
            shutil.copy2(self._path, self._next)
        now = self.entries([c.path for c in changes])
        flags: dict[str, list[bytes]] = {}
        lines = []
        for change in changes:
            staged = now.get(change.path)
            current = None if staged is None else staged.entry
            if current == change.after:
                continue
            if current != change.before:
                return False
            mode, oid = change.after or Entry("0", "0" * len(change.before.oid if change.before else ""))
            lines.append(b"%s %s\t%s\0" % (mode.encode(), oid.encode(), change.path))
            if staged is not None and change.after is not None:
                flags.setdefault(staged.flag, []).append(change.path)
        self._update("--index-info", lines)
        self._update("--skip-worktree", [p + b"\0" for f in "Ss" for p in flags.get(f, ())])
        self._update("--assume-unchanged", [p + b"\0" for f in "hs" for p in flags.get(f, ())])
        return True

    def publish(self) -> None:
        """Put the prepared index in place, durably."""
        if not os.path.exists(self._next):
            return  # there is no index, and nothing to put into one
        os.replace(self._next, self._path)
        sync_folder(self._history.folder)

    def _update(self, how: str, lines: Sequence[bytes]) -> None:
        if not lines:
            return
        given = ("-z", "--index-info") if how == "--index-info" else (how, "-z", "--stdin")
        self._history.must("update-index", *given, stdin=b"".join(lines), index=self._next)
