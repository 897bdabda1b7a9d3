"""Objects by name: read through one long-lived git process, written to the private store, always verified."""

from __future__ import annotations

import os
import subprocess
import threading
import zlib

from referee.adapters.git.entry import object_name
from referee.adapters.git.git import Git
from referee.adapters.git.private import Private
from referee.adapters.git.root import write_all
from referee.domain.errors import WorldFault


class Objects:
    """The object database: the private store's objects and, to read only, the user's."""

    def __init__(self, git: Git, private: Private, algorithm: str) -> None:
        self.algorithm = algorithm
        self._git = git
        self._private = private
        self._lock = threading.Lock()
        self._written: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, oid: str) -> bytes:
        """The bytes of an object. Raises `WorldFault` if it is missing or damaged."""
        with self._lock:
            kind, data = self._ask(oid)
        if object_name(self.algorithm, kind, data) != oid:
            raise WorldFault(f"object {oid} is damaged: its bytes do not match its name; run git fsck")
        return data

    def holds(self, oid: str) -> bool:
        """Whether an object is there and whole."""
        try:
            self.read(oid)
        except WorldFault:
            return False
        return True

    def write(self, kind: str, data: bytes) -> str:
        """Store an object, whole or not at all; its name.

        It is written even if an earlier process left the name: a copy that a crash tore is healed (case I13).
        """
        oid = object_name(self.algorithm, kind, data)
        if oid in self._written:
            return oid
        folder = os.path.join(self._private.objects, oid[:2].encode())
        os.makedirs(folder, exist_ok=True)
        partial = os.path.join(folder, b"tmp_obj_%d_%d" % (os.getpid(), threading.get_ident()))
        fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o444)
        try:
            write_all(fd, zlib.compress(b"%s %d\0%s" % (kind.encode(), len(data), data), 1))
        finally:
            os.close(fd)
        os.replace(partial, os.path.join(folder, oid[2:].encode()))
        self._written.add(oid)
        return oid

    def forget(self) -> None:
        """Write objects anew from now on: some may be removed."""
        self._written.clear()

    def close(self) -> None:
        """End the reading process."""
        with self._lock:
            self._stop()

    def _ask(self, oid: str) -> tuple[str, bytes]:
        process = self._process or self._start()
        stdin, stdout = process.stdin, process.stdout
        if stdin is None or stdout is None:
            raise WorldFault("git cat-file has no pipes")
        try:
            stdin.write(oid.encode() + b"\n")
            stdin.flush()
            header = stdout.readline().split()
            if len(header) == 3:
                data = stdout.read(int(header[2]))
                stdout.read(1)
                return header[1].decode(), data
        except BaseException:
            self._stop()  # an interrupted answer would be read as the next one's
            raise
        if not header:
            self._stop()
            raise WorldFault("git cat-file ended unexpectedly; run git fsck")
        raise WorldFault(f"object {oid} is missing from the repository; run git fsck, or start a new run")

    def _start(self) -> subprocess.Popen[bytes]:
        variables = self._private.variables()
        self._process = self._git.start("cat-file", "--batch", variables=variables, cwd=self._private.folder)
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        process.wait()
