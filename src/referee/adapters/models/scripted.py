"""A model that reads its answers from a file: for tests, and for anyone who drives the loop by hand."""

from __future__ import annotations

import json
import threading
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError

from referee.domain.errors import UsageError
from referee.domain.value import Value
from referee.ports import ModelReply, ModelRequest, Price, ToolCall, Usage

FREE = Price(input=Decimal(0), output=Decimal(0), cache_read=Decimal(0), cache_write=Decimal(0), source="scripted")

V = TypeVar("V", bound=Value)


class ScriptedCall(Value):
    """A tool call of a script; without an `id` it gets one from its place."""

    id: str = ""
    name: str
    arguments: dict[str, Any] | str = "{}"


class Line(Value):
    """One line of a script; `tool_calls` are for the agent flow."""

    role: Literal["generator", "fixer", "evaluator", "agent", "subagent"]
    content: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cost_usd: Decimal | None = Field(default=None, ge=0)
    finish: Literal["stop", "length", "refusal", "other"] = "stop"


class ScriptedModel:
    """Answers each call with the next line of its role; the last line of a role repeats.

    In a script without lines for sub-agents these speak the lines of `agent`, from the first on.
    """

    def __init__(self, path: str) -> None:
        """Read the whole script at once. Raises `UsageError` naming the line that is wrong."""
        self._path = path
        self._lines: dict[str, list[Line]] = {}
        for line in read_lines(path, Line):
            self._lines.setdefault(line.role, []).append(line)
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """`scripted:` and the file."""
        return f"scripted:{self._path}"

    def price(self) -> Price:
        """Zero; a line may state its own cost."""
        return FREE

    def call(self, request: ModelRequest) -> ModelReply:
        """The line at the request's ordinal, or else the next one. Raises `UsageError` if the role has none."""
        lines = self._lines.get(request.role) or self._lines.get("agent" if request.role == "subagent" else "")
        if not lines:
            roles = ", ".join(sorted(self._lines)) or "none"
            raise UsageError(f"{self._path} has no line for the role {request.role} (roles in it: {roles})")
        with self._lock:
            self._taken[request.role] = request.ordinal or self._taken[request.role] + 1
            line = lines[min(self._taken[request.role], len(lines)) - 1]
        usage = Usage(fresh_input=line.input_tokens, output=line.output_tokens)
        cost = line.cost_usd if line.cost_usd is not None else Decimal(0)
        return ModelReply(
            content=line.content, calls=_calls(line), usage=usage, finish=line.finish, model=self.name, cost_usd=cost
        )


def _calls(line: Line) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            id=call.id or f"call_{n}",
            name=call.name,
            arguments=call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments),
        )
        for n, call in enumerate(line.tool_calls, start=1)
    )


def read_lines(path: str, kind: type[V]) -> list[V]:
    """The values in a file of JSON lines; blank lines are skipped. Raises `UsageError` with file and line."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise UsageError(f"cannot read {path}: {getattr(e, 'strerror', None) or 'it is not UTF-8'}") from None
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append(kind.model_validate_json(line))
        except ValidationError as e:
            first = e.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(p) for p in first["loc"])
            raise UsageError(f"{path} line {number}: {place + ': ' if place else ''}{first['msg']}") from None
    return found
