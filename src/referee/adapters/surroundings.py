"""What a repository and a person bring along, as files and programs."""

from __future__ import annotations

import difflib
import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.adapters import hooks as written
from referee.adapters import mcp
from referee.adapters.approvals import FileApprovals
from referee.adapters.memory import MemoryFiles
from referee.adapters.schedule import ScheduleFile
from referee.adapters.toolchains import program
from referee.domain.destination import Destination
from referee.domain.errors import UsageError
from referee.domain.hooks import Answer, Hook, Trusted, fingerprint, moves
from referee.domain.memory import MemoryLayer
from referee.domain.named import named
from referee.domain.patch import Patch
from referee.domain.peers import Definition, Server, launch, pin
from referee.domain.schedule import Planned
from referee.ports import Base, Command, Hooked, Limits, Memories, Peer, Sandbox

HOOKS, SERVER, LAUNCH = "hooks", "mcp", "mcp launch"
_PROJECTS_OWN = ("python", "python3", "node", "sh", "bash")
_DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Locations:
    """Where everything is: the repository and its state, the person's own folder, and how commands run.

    `paths` are the files of the repository as they are when it is asked.
    """

    root: str
    state: str
    own: str
    paths: Callable[[], Sequence[str]]
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
        self._schedule = ScheduleFile(os.path.join(place.state, "schedule.json"))
        self._peers: dict[str, Peer] = {}
        self._starting = threading.RLock()

    @property
    def memories(self) -> Memories:
        """The repository's and the person's."""
        return self._memories

    def digest(self, path: str) -> str | None:
        """See `Surroundings.digest`."""
        return _digest(self._place.root, path)

    def pinned(self) -> tuple[str, ...]:
        """The files named by hooks and servers that a person trusts, from the root: with them the trust would end."""
        hooks, servers = written.read(self._place.root)[0], self.servers()[0]
        commands = [h.command for h in hooks] if self._trusted() else []
        commands += [_words(s) for s in servers if self._approvals.digest(LAUNCH, s.name)]
        found = self._named_in(commands) if commands else {}
        root = self._place.root
        places = ((os.path.join(root, path), os.path.realpath(os.path.join(root, path))) for path in found)
        inside = {os.path.relpath(place, root) for pair in places for place in pair}
        return tuple(sorted(path for path in inside if not path.startswith("..")))

    def hooks(self) -> Hooked:
        """What the files say now, and how far a person trusts exactly that."""
        found, notes = written.read(self._place.root)
        trusted = self._trusted()
        if not found:
            return Hooked(notes=notes, changed=bool(trusted))
        digest = fingerprint(found, self._place.paths(), self.digest)
        ways = [way for way, content in trusted.items() if content == digest]
        how = ways[-1] if ways else Trusted.NOT
        return Hooked(hooks=found, trusted=how, digest=digest, changed=bool(trusted) and not ways, notes=notes)

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
        now = self.hooks()
        if how is not Trusted.NOT and not now.hooks:
            raise UsageError(f"there are no hooks here to trust; they are looked for in {', '.join(written.places())}")
        astray = [hook for hook in now.hooks if moves(hook)]
        if how is Trusted.AS_ME and astray:
            raise UsageError(
                f"the hook `{astray[0].command[:80]}` goes to another folder, and which files it runs cannot be told; "
                "name them from the root of the repository, without cd, or trust it without --as-me"
            )
        for way in (Trusted.INSIDE, Trusted.AS_ME):
            self._approvals.revoke(HOOKS, way.value)
        if how is not Trusted.NOT:
            self._approvals.approve(HOOKS, how.value, now.digest)
        return self.hooks()

    def _trusted(self) -> Mapping[Trusted, str]:
        ways = ((way, self._approvals.digest(HOOKS, way.value)) for way in (Trusted.INSIDE, Trusted.AS_ME))
        return {way: digest for way, digest in ways if digest}

    def servers(self) -> tuple[tuple[Server, ...], tuple[str, ...]]:
        """What `.mcp.json` names."""
        return mcp.read(self._place.root)

    def reach(self, server: Server) -> Literal["inside", "outside"]:
        """An address is outside; so is a command that may connect to listed domains."""
        return "outside" if server.url or self._place.listed else "inside"

    def peer(self, name: str, base: Base, *, approving: bool = False) -> Peer:
        """See `Surroundings.peer`."""
        with self._starting:
            if name not in self._peers:
                self._peers[name] = self._start(self._named(name), base, approving)
            return self._peers[name]

    def may_reach(self, server: Server) -> bool:
        """Whether how it is launched is as it was approved."""
        return self._approvals.digest(LAUNCH, server.name) == self._launch(server)

    def approved(self, server: Server, definitions: Sequence[Definition]) -> bool:
        """Whether the pin is the approved one."""
        return self._approvals.digest(SERVER, server.name) == pin(self._launch(server), definitions)

    def approve(self, server: Server, definitions: Sequence[Definition] | None) -> None:
        """Pin it as it is."""
        launched = self._launch(server)
        self._approvals.approve(LAUNCH, server.name, launched)
        if definitions is not None:
            self._approvals.approve(SERVER, server.name, pin(launched, definitions))

    def revoke(self, name: str) -> bool:
        """Drop the pins."""
        launched = self._approvals.revoke(LAUNCH, name)
        return self._approvals.revoke(SERVER, name) or launched

    def planned(self) -> tuple[Planned, ...]:
        """See `Surroundings.planned`."""
        return self._schedule.all()

    def plan(self, change: Callable[[Sequence[Planned]], Sequence[Planned]]) -> None:
        """See `Surroundings.plan`."""
        self._schedule.change(change)

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

    def _named_in(self, commands: Sequence[str]) -> Mapping[str, str]:
        return named(commands, self._place.paths(), self.digest)

    def _launch(self, server: Server) -> str:
        return launch(server, self.reach(server), self._named_in((_words(server),)) if server.command else {})

    def _check_copy(self, base: Base, server: Server) -> None:
        """Raises `UsageError` if a file that it names is another one in the copy than in the repository."""
        root = self._place.root
        for path, content in self._named_in((_words(server),)).items():
            if _digest(base.path, os.path.relpath(os.path.join(root, path), root)) not in (None, content):
                raise UsageError(f"{path} is not what was approved, in the copy that it would run in")

    def _start(self, server: Server, base: Base, approving: bool) -> Peer:
        try:
            from referee.adapters.mcp.open import in_sandbox, over_http
        except ModuleNotFoundError as missing:
            raise UsageError("MCP servers need the extra mcp; install referee[mcp]") from missing
        free = self.may_reach(server)
        if server.url:
            if not (free or approving):
                raise UsageError(f"approve it first: referee servers approve {server.name}")
            return over_http(server, self._place.listed, self._place.secret if free else None)
        command = self._place.command(("-",), base, Limits(wall_seconds=_DAY, cpu_seconds=None))
        if free:
            self._check_copy(base, server)
            command = command.model_copy(update={"egress": tuple(self._place.listed)})
        if server.command not in _PROJECTS_OWN:
            path, shown = program(server.command, self._place.root, f"server {server.name} in {mcp.PLACE}")
            server = server.model_copy(update={"command": path})
            found = ":".join((command.env["PATH"], *shown.path))
            command = command.model_copy(
                update={"mounts": (*command.mounts, *shown.mounts), "env": {**command.env, "PATH": found}}
            )
        return in_sandbox(server, self._place.sandbox(), command)


def _words(server: Server) -> str:
    return " ".join((server.command, *server.args))


def _digest(root: str, path: str) -> str | None:
    real = os.path.realpath(os.path.join(root, path))
    if not real.startswith(os.path.realpath(root) + os.sep) or not os.path.isfile(real):
        return None
    with open(real, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
