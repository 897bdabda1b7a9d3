"""What a repository and a person bring along: memories, hooks and servers of tools, and how far each is trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from referee.domain.hooks import Answer, Hook, Trusted
from referee.domain.patch import Patch
from referee.domain.peers import Definition, Server
from referee.domain.schedule import Planned
from referee.domain.value import Value
from referee.ports.memories import Memories
from referee.ports.peers import Peer
from referee.ports.sandbox import Base


class Hooked(Value):
    """The hooks of a repository as they are now; `digest` is what a person trusts, `notes` what was left out.

    `changed` says that a person has trusted other ones than these.
    """

    hooks: tuple[Hook, ...] = ()
    trusted: Trusted = Trusted.NOT
    digest: str = ""
    changed: bool = False
    notes: tuple[str, ...] = ()


class Surroundings(Protocol):
    """Read when asked for; closed with the run."""

    @property
    def memories(self) -> Memories: ...
    def digest(self, path: str) -> str | None:
        """The SHA-256 of a file of the repository as it is; None if there is none, or it leads elsewhere."""
        ...

    def hooks(self) -> Hooked: ...
    def run_hook(self, hook: Hook, event: bytes, base: Base, patch: Patch) -> Answer:
        """One hook, as far as it is trusted, on the files as `patch` makes them of `base`.

        Raises `UsageError` if it is not trusted as it is now.
        """
        ...

    def trust_hooks(self, how: Trusted) -> Hooked:
        """A person trusts the hooks as they are now that far, or not any more.

        Raises `UsageError` if there are none, or one cannot be trusted that far.
        """
        ...

    def servers(self) -> tuple[tuple[Server, ...], tuple[str, ...]]:
        """The servers that the repository names, and what was left out, in words."""
        ...

    def reach(self, server: Server) -> Literal["inside", "outside"]:
        """Whether what a server does can leave the sandbox."""
        ...

    def peer(self, name: str, base: Base, *, approving: bool = False) -> Peer:
        """The server of that name, started on first use; without network unless it `may_reach` what is listed.

        Raises `UsageError` if there is none or its address is not listed; an address that may not be reached is
        contacted only for a person who is `approving` it, without any secret.
        """
        ...

    def may_reach(self, server: Server) -> bool:
        """Whether a person has approved how it is started, with the files it names: then it gets what is listed."""
        ...

    def approved(self, server: Server, definitions: Sequence[Definition]) -> bool:
        """Whether a person has approved a server with exactly these tools."""
        ...

    def approve(self, server: Server, definitions: Sequence[Definition] | None) -> None:
        """A person approves a server with exactly these tools; with None, only that it is started and may reach out."""
        ...

    def revoke(self, name: str) -> bool:
        """Whether there was an approval to take back."""
        ...

    def planned(self) -> tuple[Planned, ...]:
        """The repository's schedule."""
        ...

    def plan(self, change: Callable[[Sequence[Planned]], Sequence[Planned]]) -> None:
        """Replace what is planned by what `change` makes of it, while nobody else does."""
        ...

    def close(self) -> None: ...
