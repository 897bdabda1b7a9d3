"""Tools of somebody else's server (MCP): as it defines them, once a person has approved that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from referee.actions.surround import CallPeer, CallPeerOutside, MeetPeer
from referee.domain.observation import Observation, failed
from referee.domain.peers import MOST_DESCRIPTION, Definition, Server, risk
from referee.kernel.run import Run
from referee.ports import Base, ToolSpec
from referee.tools.room import Room
from referee.tools.tool import MOST_SAID, Tool, as_object
from referee.tools.words import both_ends, readable

SECONDS = 120.0
SHOWN_CHARS = 30_000


def met(run: Run, servers: Sequence[Server], base: Base) -> tuple[Tool, ...]:
    """The tools of all servers that are approved as they are now; what is left out is said to the person."""
    found: list[Tool] = []
    for server in servers:
        told = run.perform(MeetPeer(server=server, base=base))
        if told.problem:
            run.note(f"the tools of the MCP server {server.name} are left out: {told.problem}")
        elif not told.approved:
            run.note(
                f"the tools of the MCP server {server.name} are left out: nobody has approved them as they are now; "
                f"look at them with `referee servers list`, then `referee servers approve {server.name}`"
            )
        else:
            found += [_tool(definition, told.reach, base) for definition in told.definitions]
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class PeerTool(Tool):
    """A tool whose arguments are described by a JSON Schema that is not ours."""

    parameters: Mapping[str, Any]

    @property
    def spec(self) -> ToolSpec:
        """As its server defines it, with where it is from."""
        return ToolSpec(name=self.name, description=self.description, parameters={"type": "object", **self.parameters})

    def read(self, text: str) -> dict[str, Any]:
        """The arguments, if they are as the schema says. Raises `ValueError` in words for a model."""
        given = as_object(text)
        from jsonschema import Draft202012Validator, SchemaError  # type: ignore[import-untyped]  # slow to load
        from referencing import Registry
        from referencing.exceptions import Unresolvable

        try:
            # Without a registry of ours a reference would be fetched, from wherever the server says.
            validator = Draft202012Validator(dict(self.parameters), registry=Registry())
            said = [e.message for e in validator.iter_errors(given)]
        except SchemaError as wrong:
            raise ValueError(f"the server's own schema is wrong: {wrong.message}") from None
        except Unresolvable as lost:
            raise ValueError(f"the server's own schema refers to {lost.ref}, which is not in it") from None
        if said:
            raise ValueError("; ".join(said[:MOST_SAID]))
        return {"arguments": given}


def _tool(definition: Definition, reach: Literal["inside", "outside"], base: Base) -> PeerTool:
    kind = CallPeer if reach == "inside" else CallPeerOutside
    reached = risk(definition, reach)

    asked = {"server": definition.server, "tool": definition.name, "risk": reached, "base": base, "seconds": SECONDS}

    def work(room: Room, arguments: Mapping[str, Any]) -> Observation:
        action = kind.model_validate({**asked, "arguments": arguments})
        reply = room.run.perform(action)
        text, _ = readable(reply.text.encode())
        kept = room.run.put(text.encode()) if len(text) > SHOWN_CHARS else ""
        meta = f"[{len(text)} characters, all of them in {room.next_output}]" if kept else f"[from {definition.server}]"
        said = f"{both_ends(text, SHOWN_CHARS)}\n{meta}"
        return failed(said).model_copy(update={"kept": kept}) if reply.failed else Observation(text=said, kept=kept)

    about = f"(From the MCP server {definition.server}, in its own words.) {definition.description}"
    return PeerTool(
        name=definition.tool,
        group="outside",
        risk=reached,
        description=about[:MOST_DESCRIPTION],
        arguments=BaseModel,
        work=work,
        parameters=definition.parameters,
    )
