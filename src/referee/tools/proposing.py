"""The tools that reach another system: http and propose. What is not read from a listed domain is signed first."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from referee.actions.outside import CallOutside
from referee.domain.canonical import digest_of
from referee.domain.errors import UsageError
from referee.domain.observation import Observation
from referee.domain.outside import Proposal, Receipt, Request
from referee.domain.risk import Risk
from referee.tools.room import Room
from referee.tools.tool import tool


@tool("outside", Risk.READ)
def http(
    room: Room,
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    url: Annotated[str, Field(min_length=1, max_length=2_000)],
    headers: Annotated[dict[str, str], Field(description="a secret only by name: env:VARIABLE")] = {},  # noqa: B006 - read only
    body: Annotated[str, Field(max_length=100_000)] = "",
    why: Annotated[str, Field(max_length=1_000)] = "",
) -> Observation:
    """Send one HTTP request. A person must sign it, unless it reads from a domain that is listed; the work waits.

    Not from bash: commands have no network. Not for what must be undone: use propose.
    """
    arguments = {"method": method, "url": url, "headers": headers, "body": body}
    return _sent(room, Request(tool="http", arguments=arguments), None, why or "it gave no reason")


@tool("outside", Risk.READ)
def propose(
    room: Room,
    kind: Literal["http", "sql", "mail"],
    arguments: Annotated[dict[str, Any], Field(description="in the form of the kind")],
    why: Annotated[str, Field(min_length=10, max_length=1_000)],
    undo: Annotated[dict[str, Any] | None, Field(description="arguments of what takes it back")] = None,
) -> Observation:
    """Have something done to another system. A person must sign exactly this; the work waits until then.

    sql: database, up, down, name. mail: server, port, sender, to, subject, body, user, password.
    http: method, url, headers, body. A secret is only named: env:VARIABLE.
    Not for what the other tools do here, nor for http without undo: use http.
    """
    back = undo if undo or kind != "sql" else {**arguments, "up": arguments.get("down"), "down": arguments.get("up")}
    undoing = Request(tool=kind, arguments=back) if back else None
    return _sent(room, Request(tool=kind, arguments=arguments), undoing, why)


def _sent(room: Room, request: Request, undo: Request | None, why: str) -> Observation:
    proposal = Proposal(
        request=request,
        # The same in a replay, and another one for the same request at another place of the run.
        key=f"referee-{digest_of([room.run.id, room.run.here])[:32]}",
        requester=f"the agent of run {room.run.id}: {why}",
        undo=undo,
    )
    try:
        receipt = room.run.perform(CallOutside(proposal=proposal, tree=room.tree))
    except UsageError as wrong:
        raise ValueError(str(wrong)) from None
    return _told(receipt)


def _told(receipt: Receipt) -> Observation:
    if receipt.status == "done":
        return Observation(text=f"{receipt.said}\n[done]")
    if receipt.status == "unknown":
        told = (
            f"unknown whether it took effect: {receipt.said}. Do not repeat it. A person has to check {receipt.check}"
        )
        return Observation(text=told, outcome="failed")
    return Observation(text=f"failed, and nothing was changed: {receipt.said}", outcome="failed")
