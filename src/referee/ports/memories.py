"""What is remembered beyond a run, and what a person has approved."""

from __future__ import annotations

from typing import Protocol

from referee.domain.memory import Kept, Memory, MemoryLayer


class Memories(Protocol):
    """Memories on disk, one file each. Raises `WorldFault` if the disk refuses."""

    def all(self) -> tuple[Kept, ...]: ...
    def problems(self) -> tuple[str, ...]:
        """What lies there and cannot be read as a memory, in words."""
        ...

    def keep(self, memory: Memory) -> Kept:
        """Write it, unconfirmed; one with the same id in its layer is replaced."""
        ...

    def confirm(self, kept: Kept, by: str) -> Kept:
        """Record that `by` confirmed exactly this. Raises `UsageError` if the file has changed since it was read."""
        ...

    def forget(self, layer: MemoryLayer, memory_id: str) -> bool:
        """Delete it; whether there was one."""
        ...


class Approvals(Protocol):
    """What a person has approved for one repository, by kind and name, as the SHA-256 of exactly that.

    It is kept outside the repository, so that nothing in one can approve itself.
    """

    def digest(self, kind: str, name: str) -> str | None: ...
    def by(self, kind: str, name: str) -> str:
        """Who approved it; empty if nobody did."""
        ...

    def names(self, kind: str) -> tuple[str, ...]: ...
    def approve(self, kind: str, name: str, digest: str, by: str = "person") -> None: ...
    def revoke(self, kind: str, name: str) -> bool:
        """Whether there was something to take back."""
        ...
