"""What a run may ask other systems to do: never by itself, and never twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from referee.domain.risk import Risk
from referee.domain.value import Value


class Request(Value):
    """A call of an outside tool by its name, with arguments in the tool's own form."""

    tool: str
    arguments: Mapping[str, Any]


class Proposal(Value):
    """A request to be signed. `key` makes it one of a kind for the other system; `undo` is what would take it back."""

    request: Request
    key: str
    requester: str
    undo: Request | None = None


class Described(Value):
    """A request in words, from its arguments alone: a line, everything that is going to be sent, and its impact.

    `host` is the one that it reaches, empty for a file of this machine.
    """

    risk: Risk
    summary: str
    detail: str
    impact: str
    host: str = ""


class Receipt(Value):
    """What became of a request: `done`, `failed` without any effect, or `unknown`.

    `said` tells it in words. Of what is unknown, `check` says what a person should look at.
    """

    status: Literal["done", "failed", "unknown"]
    said: str
    facts: Mapping[str, str] = {}
    check: str = ""
