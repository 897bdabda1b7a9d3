"""A disk that refuses: the n-th call that changes something, or opens a file, fails as the system says it would."""

from __future__ import annotations

import builtins
import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from referee.adapters.git import rename, transaction

WRITING = ("write", "fsync", "mkdir", "rename", "replace", "link", "unlink", "rmdir", "fchmod", "fchown", "setxattr")
NAMES = {errno.ENOSPC: "ENOSPC", errno.EIO: "EIO", errno.EROFS: "EROFS", errno.EMFILE: "EMFILE"}
KINDS = tuple(NAMES)
SHORT = 0  # not an error: a write that takes only a part
CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Disk:
    """Counts the calls; from call `at` on it fails with `kind`, once or, if `lasting`, for good."""

    def __init__(self, at: int = 0, kind: int = errno.EIO, *, lasting: bool = False) -> None:
        self.at, self.kind, self.lasting, self.calls = at, kind, lasting, 0
        self.failed: list[str] = []
        self._lock = threading.Lock()

    def _due(self, name: str) -> bool:
        with self._lock:  # several threads wait for the disk at once
            self.calls += 1
        due = self.at > 0 and (self.calls == self.at or (self.lasting and self.calls > self.at))
        if due:
            self.failed.append(name)
        return due

    def wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """`real`, failing when it is due."""

        def call(*args: Any, **named: Any) -> Any:
            if self._spared(name, args) or not self._due(name):
                return real(*args, **named)
            if self.kind != SHORT:
                raise OSError(self.kind, os.strerror(self.kind))
            if name == "write":
                return real(args[0], bytes(args[1])[: max(1, len(args[1]) // 2)])
            return real(*args, **named)

        return call

    def _spared(self, name: str, args: tuple[Any, ...]) -> bool:
        """A full or read-only disk does not refuse to read, nor to delete; a lack of descriptors only opens."""
        opens = name in ("open", "builtin open")
        reads = opens and not (isinstance(args[1], int) and args[1] & CHANGES) if len(args) > 1 else opens
        if self.kind == errno.EMFILE:
            return not opens
        if self.kind == errno.EIO:
            return False
        return reads or (self.kind == errno.ENOSPC and name in ("unlink", "rmdir"))

    @contextmanager
    def in_place(self) -> Iterator[Disk]:
        """While this is open, the calls of this process go through the disk."""
        with ExitStack() as stack:
            for name in (*WRITING, "open"):
                stack.enter_context(patch.object(os, name, self.wrap(name, getattr(os, name))))
            stack.enter_context(patch.object(builtins, "open", self.wrap("builtin open", builtins.open)))
            for module, name in ((rename, "_renameat2"), (transaction, "sync_file_system")):
                stack.enter_context(patch.object(module, name, self.wrap(name, getattr(module, name))))
            yield self
