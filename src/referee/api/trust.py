"""What a repository brings along that a person must trust first: hooks and servers of tools."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from referee.actions.tree import PrepareBase, TakeSnapshot
from referee.api.tools import unrecorded
from referee.config import load
from referee.domain.cost import Budget
from referee.domain.errors import UsageError, WorldFault
from referee.domain.hooks import Trusted
from referee.domain.peers import Definition, Server, objection, risk
from referee.domain.risk import Risk
from referee.domain.value import Value
from referee.ports import Base, Hooked, Peer
from referee.wiring import Desk


class ToolRow(Value):
    """A tool of a server: the name a model calls it by, and how far it reaches."""

    tool: str
    description: str
    risk: Risk


class ServerRow(Value):
    """A server as it is now. `approved` is for exactly these tools; `problem` is why it cannot be used."""

    server: Server
    approved: bool = False
    tools: tuple[ToolRow, ...] = ()
    problem: str = ""


def hooks(repo: str = ".") -> Hooked:
    """The hooks of a repository and how far they are trusted as they are now."""
    with Desk(repo, load(repo)) as desk:
        return desk.surroundings.hooks()


def trust_hooks(how: Trusted, repo: str = ".") -> Hooked:
    """Trust the hooks as they are now that far. Raises `UsageError` if there are none."""
    with Desk(repo, load(repo)) as desk:
        return desk.surroundings.trust_hooks(how)


def servers(repo: str = ".") -> tuple[tuple[ServerRow, ...], tuple[str, ...]]:
    """The servers of a repository with their tools, each started to ask it; and what was left out, in words."""
    with _at_hand(repo) as (desk, base):
        found, notes = desk.surroundings.servers()
        return tuple(_row(desk, base, server) for server in found), notes


def approve_server(name: str, repo: str = ".") -> ServerRow:
    """Approve a server with exactly the tools that it has now. Raises `UsageError` or `WorldFault` if it has none."""
    with _at_hand(repo) as (desk, base):
        peer = _introduced(desk, name, base)
        server = next(s for s in desk.surroundings.servers()[0] if s.name == name)
        if wrong := objection(peer.definitions()):
            raise UsageError(f"{name} cannot be approved: {wrong}")
        desk.surroundings.approve(server, peer.definitions())
        return _row(desk, base, server)


def revoke_server(name: str, repo: str = ".") -> bool:
    """Take an approval back; whether there was one."""
    with Desk(repo, load(repo)) as desk:
        return desk.surroundings.revoke(name)


def _introduced(desk: Desk, name: str, base: Base) -> Peer:
    """The server, as a person is approving it. One that cannot do without the network is approved in two steps."""
    around = desk.surroundings
    try:
        return around.peer(name, base, approving=True)
    except WorldFault as wrong:
        server = next(s for s in around.servers()[0] if s.name == name)
        if around.reach(server) == "inside" or around.may_reach(server):
            raise
        around.approve(server, None)
        raise UsageError(
            f"{wrong}. It had neither network nor secrets of yours. How it is started, and the files that it names, "
            f"are approved now: it may use what sandbox.allow_domains and sandbox.inject give. To ask it again: "
            f"referee servers approve {name}; to take that back: referee servers revoke {name}"
        ) from wrong


@contextmanager
def _at_hand(repo: str) -> Iterator[tuple[Desk, Base]]:
    config = load(repo)
    with Desk(repo, config) as desk:
        run = unrecorded(desk, Budget(), None)
        tree = run.perform(TakeSnapshot(run_id="servers", settled=False)).tree
        yield desk, run.perform(PrepareBase(tree=tree, protection=config.protection))


def _row(desk: Desk, base: Base, server: Server) -> ServerRow:
    try:
        found = desk.surroundings.peer(server.name, base).definitions()
    except (UsageError, WorldFault) as wrong:
        return ServerRow(server=server, problem=str(wrong))
    reach = desk.surroundings.reach(server)

    def shown(definition: Definition) -> ToolRow:
        return ToolRow(tool=definition.tool, description=definition.description, risk=risk(definition, reach))

    approved = desk.surroundings.approved(server, found)
    return ServerRow(server=server, approved=approved, tools=tuple(map(shown, found)), problem=objection(found))
