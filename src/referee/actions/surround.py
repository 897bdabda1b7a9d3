"""What surrounds a run: memories, hooks, servers of tools that are not ours."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal

from referee.domain.errors import UsageError, WorldFault
from referee.domain.hooks import Answer, Hook
from referee.domain.memory import Memory, MemoryLayer, Standing, standing
from referee.domain.patch import Patch
from referee.domain.peers import Definition, Reply, Server, objection
from referee.domain.risk import Risk
from referee.domain.value import Value
from referee.kernel.action import Action, Effect
from referee.ports import Base, Hooked, World

UNKNOWN = "nobody knows whether this took effect: the run was cut off while it was asked. It is not asked again."


class Around(Value):
    """What there is on the day `today`; `notes` is what a person should know."""

    today: str
    memories: tuple[Standing, ...] = ()
    hooked: Hooked = Hooked()
    servers: tuple[Server, ...] = ()
    notes: tuple[str, ...] = ()


class LookAround(Action[Around]):
    """Read what the repository and the person bring along."""

    name: ClassVar[str] = "look_around"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[type] = Around

    def perform(self, world: World) -> Around:
        """What cannot be read is said in `notes`."""
        found = world.surroundings
        today = datetime.fromtimestamp(world.clock.now(), UTC).date().isoformat()
        memories, hooked = found.memories, found.hooks()
        servers, notes = found.servers()
        return Around(
            today=today,
            memories=standing(memories.all(), today, found.digest),
            hooked=hooked,
            servers=servers,
            notes=(*memories.problems(), *hooked.notes, *notes),
        )


class Remember(Action[str]):
    """Keep a memory, unconfirmed: it counts for nobody before somebody vouches for it."""

    name: ClassVar[str] = "remember"
    effect: ClassVar[Effect] = Effect.LAND
    result_type: ClassVar[type] = str

    memory: Memory

    def perform(self, world: World) -> str:
        """The id under which it is kept."""
        return world.surroundings.memories.keep(self.memory).memory.id

    def recover(self, world: World) -> str | None:
        """Its id, if it is there."""
        there = {k.memory.id: k.memory for k in world.surroundings.memories.all()}
        return self.memory.id if there.get(self.memory.id) == self.memory else None


class Forget(Action[bool]):
    """Delete a memory."""

    name: ClassVar[str] = "forget"
    effect: ClassVar[Effect] = Effect.LAND
    result_type: ClassVar[type] = bool

    layer: MemoryLayer
    memory: str

    def perform(self, world: World) -> bool:
        """Whether it was there."""
        return world.surroundings.memories.forget(self.layer, self.memory)

    def recover(self, world: World) -> bool | None:
        """That it is gone says that an earlier try took effect."""
        there = {(k.memory.layer, k.memory.id) for k in world.surroundings.memories.all()}
        return None if (self.layer, self.memory) in there else True


class RunHook(Action[Answer]):
    """One hook at one event, on the files as `patch` makes them of `base`."""

    name: ClassVar[str] = "hook"
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[type] = Answer

    hook: Hook
    event: str
    base: Base
    patch: Patch = Patch()

    def perform(self, world: World) -> Answer:
        """Its answer; one that is no longer trusted did not run, which is said."""
        seconds = min(self.hook.timeout, max(1.0, world.seconds_left()))
        hook = self.hook.model_copy(update={"timeout": seconds})
        try:
            return world.surroundings.run_hook(hook, self.event.encode(), self.base, self.patch)
        except UsageError as untrusted:
            return Answer(exit_code=None, failed=str(untrusted))


class Met(Value):
    """A server's tools, and whether a person has approved exactly these; `problem` is why it cannot be used."""

    definitions: tuple[Definition, ...] = ()
    reach: Literal["inside", "outside"] = "inside"
    approved: bool = False
    problem: str = ""


class MeetPeer(Action[Met]):
    """Start a server and ask for its tools."""

    name: ClassVar[str] = "meet_peer"
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[type] = Met

    server: Server
    base: Base

    def perform(self, world: World) -> Met:
        """A server that cannot be used costs its tools and not the run."""
        around = world.surroundings
        try:
            found = around.peer(self.server.name, self.base).definitions()
        except (UsageError, WorldFault) as wrong:
            return Met(problem=str(wrong))
        approved = around.approved(self.server, found)
        return Met(definitions=found, reach=around.reach(self.server), approved=approved, problem=objection(found))


class CallPeer(Action[Reply]):
    """Call a tool whose server cannot leave the sandbox."""

    name: ClassVar[str] = "call_peer"
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[type] = Reply

    server: str
    tool: str
    arguments: Mapping[str, Any]
    risk: Risk
    base: Base
    seconds: float

    def perform(self, world: World) -> Reply:
        """What the tool answers; a fault of the server is an answer that failed."""
        seconds, around = min(self.seconds, max(1.0, world.seconds_left())), world.surroundings
        try:
            peer = around.peer(self.server, self.base)
            if not any(s.name == self.server and around.approved(s, peer.definitions()) for s in around.servers()[0]):
                return Reply(text=f"the server {self.server} is no longer as it was approved", failed=True)
            return peer.call(self.tool, self.arguments, seconds)
        except (UsageError, WorldFault) as wrong:
            return Reply(text=str(wrong), failed=True)


class CallPeerOutside(CallPeer):
    """Call a tool whose server reaches other systems: never twice for one request."""

    name: ClassVar[str] = "call_peer_outside"
    effect: ClassVar[Effect] = Effect.OUTSIDE

    def recover(self, world: World) -> Reply | None:
        """Whether an earlier try took effect is unknown, and said so."""
        return Reply(text=UNKNOWN, failed=True)
