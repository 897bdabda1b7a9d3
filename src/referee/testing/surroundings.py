"""Surroundings in memory: what a test puts there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from referee.domain.errors import UsageError
from referee.domain.hooks import Answer, Hook, Trusted
from referee.domain.memory import Kept, Memory, MemoryLayer
from referee.domain.patch import Patch
from referee.domain.peers import Definition, Server, launch, pin
from referee.domain.schedule import Planned
from referee.ports import Base, Hooked, Peer


class MemoryMemories:
    """See `Memories`."""

    def __init__(self) -> None:
        self.kept: dict[tuple[MemoryLayer, str], Kept] = {}

    def all(self) -> tuple[Kept, ...]:
        """Every memory."""
        return tuple(self.kept.values())

    def problems(self) -> tuple[str, ...]:
        """None."""
        return ()

    def keep(self, memory: Memory) -> Kept:
        """Keep it, unconfirmed."""
        kept = Kept(memory=memory, digest=memory.model_dump_json())
        self.kept[memory.layer, memory.id] = kept
        return kept

    def confirm(self, kept: Kept, by: str) -> Kept:
        """Let it count."""
        confirmed = kept.model_copy(update={"confirmed": by})
        self.kept[kept.memory.layer, kept.memory.id] = confirmed
        return confirmed

    def forget(self, layer: MemoryLayer, memory_id: str) -> bool:
        """Drop it."""
        return self.kept.pop((layer, memory_id), None) is not None


class FakeSurroundings:
    """See `Surroundings`. `hooked` and `peers` are a test's to set; `play` answers hooks."""

    def __init__(self) -> None:
        self.memories = MemoryMemories()
        self.hooked = Hooked()
        self.peers: dict[str, Peer] = {}
        self.pins: dict[str, str] = {}
        self.events: list[bytes] = []
        self.schedule: tuple[Planned, ...] = ()
        self.play: Callable[[Hook, bytes], Answer] = lambda hook, event: Answer(exit_code=0)

    def digest(self, path: str) -> str | None:
        """There are no files."""
        return None

    def hooks(self) -> Hooked:
        """What the test set."""
        return self.hooked

    def run_hook(self, hook: Hook, event: bytes, base: Base, patch: Patch) -> Answer:
        """As the test plays it."""
        self.events.append(event)
        return self.play(hook, event)

    def trust_hooks(self, how: Trusted) -> Hooked:
        """Trust them."""
        self.hooked = self.hooked.model_copy(update={"trusted": how})
        return self.hooked

    def servers(self) -> tuple[tuple[Server, ...], tuple[str, ...]]:
        """One for each peer."""
        return tuple(Server(name=name, command=name) for name in self.peers), ()

    def reach(self, server: Server) -> Literal["inside", "outside"]:
        """None leaves."""
        return "inside"

    def peer(self, name: str, base: Base, *, approving: bool = False) -> Peer:
        """What the test set."""
        if name not in self.peers:
            raise UsageError(f"there is no server {name}")
        return self.peers[name]

    def may_reach(self, server: Server) -> bool:
        """None can."""
        return False

    def approved(self, server: Server, definitions: Sequence[Definition]) -> bool:
        """Whether the pin is the approved one."""
        return self.pins.get(server.name) == pin(launch(server, "inside", {}), definitions)

    def approve(self, server: Server, definitions: Sequence[Definition] | None) -> None:
        """Pin it, if there is something to pin."""
        if definitions is not None:
            self.pins[server.name] = pin(launch(server, "inside", {}), definitions)

    def revoke(self, name: str) -> bool:
        """Drop the pin."""
        return self.pins.pop(name, None) is not None

    def planned(self) -> tuple[Planned, ...]:
        """What was planned."""
        return self.schedule

    def plan(self, change: Callable[[Sequence[Planned]], Sequence[Planned]]) -> None:
        """Change it."""
        self.schedule = tuple(change(self.schedule))

    def close(self) -> None:
        """Nothing is open."""
