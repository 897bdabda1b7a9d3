"""What a repository and a person bring along, as files and programs."""

from __future__ import annotations

import difflib
import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.adapters import hooks as written
from referee.adapters import mcp
from referee.adapters.approvals import FileApprovals
from referee.adapters.memory import MemoryFiles
from referee.adapters.toolchains import program
from referee.domain.destination import Destination
from referee.domain.errors import UsageError
from referee.domain.hooks import Answer, Hook, Trusted, fingerprint
from referee.domain.memory import MemoryLayer
from referee.domain.patch import Patch
from referee.domain.peers import Definition, Server, pin
from referee.ports import Base, Command, Hooked, Limits, Memories, Peer, Sandbox

HOOKS, SERVER = "hooks", "mcp"
_PROJECTS_OWN = ("python", "python3", "node", "sh", "bash")
_DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Locations:
    """Where everything is: the repository and its state, the person's own folder, and how commands run."""

    root: str
    state: str
    own: str
    sandbox: Callable[[], Sandbox]
    command: Callable[[tuple[str, ...], Base, Limits], Command]
    listed: Sequence[Destination] = ()
    secret: Callable[[str], str | None] = lambda name: None


class LocalSurroundings:
    """See `Surroundings`."""

    def __init__(self, place: Locations) -> None:
        self._place = place
        path = os.path.join(place.own, "approvals.json")
        self._approvals, mine = FileApprovals(path, place.root), FileApprovals(path, "")
        self._memories = MemoryFiles(
            {
                MemoryLayer.PROJECT: os.path.join(place.state, "memory"),
                MemoryLayer.PERSON: os.path.join(place.own, "memory"),
            },
            {MemoryLayer.PROJECT: self._approvals, MemoryLayer.PERSON: mine},
        )
        self._peers: dict[str, Peer] = {}
        self._starting = threading.RLock()

    @property
    def memories(self) -> Memories:
        """The repository's and the person's."""
        return self._memories

    def digest(self, path: str) -> str | None:
        """See `Surroundings.digest`."""
        root = self._place.root
        real = os.path.realpath(os.path.join(root, path))
        if not real.startswith(root + os.sep) or not os.path.isfile(real):
            return None
        with open(real, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def hooks(self) -> Hooked:
        """What the files say now, and how far a person trusts exactly that."""
        found, notes = written.read(self._place.root)
        if not found:
            return Hooked(notes=notes)
        digest = fingerprint(found, self.digest)
        ways = [t for t in (Trusted.INSIDE, Trusted.AS_ME) if self._approvals.digest(HOOKS, t.value) == digest]
        return Hooked(hooks=found, trusted=ways[-1] if ways else Trusted.NOT, digest=digest, notes=notes)

    def run_hook(self, hook: Hook, event: bytes, base: Base, patch: Patch) -> Answer:
        """See `Surroundings.run_hook`; trust is looked at again just before it runs."""
        now = self.hooks()
        if hook not in now.hooks or now.trusted is Trusted.NOT:
            raise UsageError(f"the hook `{hook.command[:80]}` is not trusted as it is now; see `referee hooks list`")
        if now.trusted is Trusted.AS_ME:
            return written.as_person(self._place.root, hook, event)
        command = self._place.command(("-",), base, Limits(cpu_seconds=None))
        env = {**command.env, "CLAUDE_PROJECT_DIR": self._place.root}
        command = command.model_copy(update={"env": env, "patch": patch})
        return written.in_sandbox(self._place.sandbox(), command, hook, event)

    def trust_hooks(self, how: Trusted) -> Hooked:
        """See `Surroundings.trust_hooks`."""
        for way in (Trusted.INSIDE, Trusted.AS_ME):
            self._approvals.revoke(HOOKS, way.value)
        now = self.hooks()
        if how is not Trusted.NOT:
            if not now.hooks:
                raise UsageError(
                    f"there are no hooks here to trust; they are looked for in {', '.join(written.places())}"
                )
            self._approvals.approve(HOOKS, how.value, now.digest)
        return self.hooks()

    def servers(self) -> tuple[tuple[Server, ...], tuple[str, ...]]:
        """What `.mcp.json` names."""
        return mcp.read(self._place.root)

    def reach(self, server: Server) -> Literal["inside", "outside"]:
        """An address is outside; so is a command that may connect to listed domains."""
        return "outside" if server.url or self._place.listed else "inside"

    def peer(self, name: str, base: Base) -> Peer:
        """See `Surroundings.peer`."""
        with self._starting:
            if name not in self._peers:
                self._peers[name] = self._start(self._named(name), base)
            return self._peers[name]

    def approved(self, server: Server, definitions: Sequence[Definition]) -> bool:
        """Whether the pin is the approved one."""
        return self._approvals.digest(SERVER, server.name) == pin(server, definitions)

    def approve(self, server: Server, definitions: Sequence[Definition]) -> None:
        """Pin it as it is."""
        self._approvals.approve(SERVER, server.name, pin(server, definitions))

    def revoke(self, name: str) -> bool:
        """Drop the pin."""
        return self._approvals.revoke(SERVER, name)

    def close(self) -> None:
        """Hang up on every server."""
        with self._starting:
            while self._peers:
                self._peers.popitem()[1].close()

    def _named(self, name: str) -> Server:
        servers = {s.name: s for s in self.servers()[0]}
        if name not in servers:
            near = difflib.get_close_matches(name, servers, n=1)
            raise UsageError(f"{mcp.PLACE} names no server {name}" + (f"; did you mean {near[0]}?" if near else ""))
        return servers[name]

    def _start(self, server: Server, base: Base) -> Peer:
        try:
            from referee.adapters.mcp.open import in_sandbox, over_http
        except ModuleNotFoundError as missing:
            raise UsageError("MCP servers need the extra mcp; install referee[mcp]") from missing
        if server.url:
            return over_http(server, self._place.listed, self._place.secret)
        command = self._place.command(("-",), base, Limits(wall_seconds=_DAY, cpu_seconds=None))
        command = command.model_copy(update={"egress": tuple(self._place.listed)})
        if server.command not in _PROJECTS_OWN:
            path, shown = program(server.command, self._place.root, f"server {server.name} in {mcp.PLACE}")
            server = server.model_copy(update={"command": path})
            found = ":".join((command.env["PATH"], *shown.path))
            command = command.model_copy(
                update={"mounts": (*command.mounts, *shown.mounts), "env": {**command.env, "PATH": found}}
            )
        return in_sandbox(server, self._place.sandbox(), command)
