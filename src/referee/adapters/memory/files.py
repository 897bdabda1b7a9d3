"""Memories on disk: a folder for the repository's and one for the person's, one Markdown file each."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

from referee.adapters.memory.markdown import NotAMemory, is_id, parsed, written
from referee.adapters.store.blobs import write_whole
from referee.domain.errors import UsageError, WorldFault
from referee.domain.memory import Kept, Memory, MemoryLayer
from referee.ports.memories import Approvals

KIND = "memory"
_MOST_BYTES = 64 << 10
_MOST_FILES = 2_000


class MemoryFiles:
    """The folders by layer, and by layer the approvals that say what is confirmed: a file cannot say so itself."""

    def __init__(self, folders: Mapping[MemoryLayer, str], approvals: Mapping[MemoryLayer, Approvals]) -> None:
        self._folders, self._approvals = folders, approvals

    def all(self) -> tuple[Kept, ...]:
        """Every memory that can be read."""
        found = (self._kept(layer, name) for layer, name in self._names())
        return tuple(k for k in found if isinstance(k, Kept))

    def problems(self) -> tuple[str, ...]:
        """Every file that cannot, with what to do."""
        found = (self._kept(layer, name) for layer, name in self._names())
        return tuple(p for p in found if isinstance(p, str))

    def keep(self, memory: Memory) -> Kept:
        """Write the memory's file."""
        folder, data = self._folders[memory.layer], written(memory).encode()
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            self._refuse_link(folder)
            write_whole(os.path.join(folder, f"{memory.id}.md"), data)
        except OSError as error:
            raise WorldFault(f"a memory could not be written to {folder}: {error}") from error
        return self._read_back(memory.layer, memory.id)

    def confirm(self, kept: Kept, by: str) -> Kept:
        """Approve the file as it was shown."""
        memory = kept.memory
        if self._read_back(memory.layer, memory.id).digest != kept.digest:
            raise UsageError(f"memory {memory.id} was changed just now; look at it again (`referee memory show`)")
        self._approvals[memory.layer].approve(KIND, memory.id, kept.digest, by)
        return kept.model_copy(update={"confirmed": by})

    def forget(self, layer: MemoryLayer, memory_id: str) -> bool:
        """Delete the file and its approval."""
        self._refuse_link(self._folders[layer])
        self._approvals[layer].revoke(KIND, memory_id)
        with suppress(FileNotFoundError):
            try:
                os.unlink(os.path.join(self._folders[layer], f"{memory_id}.md"))
                return True
            except PermissionError as error:
                raise WorldFault(f"memory {memory_id} could not be deleted: {error}") from error
        return False

    def _read_back(self, layer: MemoryLayer, memory_id: str) -> Kept:
        kept = self._kept(layer, f"{memory_id}.md")
        if isinstance(kept, str):
            raise UsageError(kept)
        return kept

    def _names(self) -> list[tuple[MemoryLayer, str]]:
        found: list[tuple[MemoryLayer, str]] = []
        for layer, folder in self._folders.items():
            try:
                self._refuse_link(folder)
                names = sorted(n for n in os.listdir(folder) if n.endswith(".md") and not n.startswith("."))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise WorldFault(f"{folder} cannot be read: {error}") from error
            found += [(layer, name) for name in names[:_MOST_FILES]]
        return found

    def _kept(self, layer: MemoryLayer, name: str) -> Kept | str:
        """The memory in a file, or what is wrong with it."""
        path, memory_id = os.path.join(self._folders[layer], name), name.removesuffix(".md")
        if not is_id(memory_id):
            return f"{path} is no memory: call it by lower-case letters, digits and dashes"
        try:
            data, written_at = _read(path)
            day = datetime.fromtimestamp(written_at, UTC).date().isoformat()
            memory = parsed(data.decode("utf-8"), memory_id, layer, day)
        except (NotAMemory, UnicodeDecodeError) as wrong:
            return f"{path} is no memory: {wrong}"
        except OSError as error:
            return f"{path} cannot be read: {error.strerror}"
        digest = hashlib.sha256(data).hexdigest()
        approvals = self._approvals[layer]
        confirmed = approvals.by(KIND, memory_id) if approvals.digest(KIND, memory_id) == digest else ""
        return Kept(memory=memory, digest=digest, confirmed=confirmed)

    def _refuse_link(self, folder: str) -> None:
        # A repository may bring a link that leads anywhere.
        if os.path.islink(folder):
            raise UsageError(f"{folder} is a symbolic link; put a folder in its place")


def _read(path: str) -> tuple[bytes, float]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        told = os.fstat(descriptor)
        if not stat.S_ISREG(told.st_mode):
            raise NotAMemory("it is no regular file")
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise NotAMemory(f"it is larger than {_MOST_BYTES} bytes")
    return data, told.st_mtime
