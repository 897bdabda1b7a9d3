"""One model at one provider, and what a call costs."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, Protocol

from pydantic import SerializerFunctionWrapHandler, model_serializer

from referee.domain.value import Value


class ToolCall(Value):
    """A model's wish to use a tool. `arguments` is the JSON text as the model wrote it, valid or not."""

    id: str
    name: str
    arguments: str = "{}"


class ToolSpec(Value):
    """A tool as a model is told of it; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class Message(Value):
    """One message to a model after its static prefix.

    An assistant's may hold `calls`; each is answered by one message of the role `tool` that names it in `call_id`.
    """

    role: Literal["user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tool: str = ""

    @model_serializer(mode="wrap")
    def _brief(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return _without_empty(handler(self), ("calls", "call_id", "tool"))


class ModelRequest(Value):
    """`system` is the static prefix, byte-identical on every call of a role; `reply_schema` a JSON Schema.

    `ordinal` counts an author's requests from 1, so that a script or recording finds its place again when a run
    is resumed; 0 is uncounted.
    """

    role: Literal["generator", "fixer", "evaluator", "agent", "subagent"]
    system: str
    messages: tuple[Message, ...]
    reply_schema: Mapping[str, Any] | None = None
    reply_name: str = "reply"
    max_tokens: int = 8_192
    timeout_seconds: float = 120.0
    ordinal: int = 0
    tools: tuple[ToolSpec, ...] = ()

    @model_serializer(mode="wrap")
    def _brief(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return _without_empty(handler(self), ("tools",))


def _without_empty(document: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Digests of requests without tools are as they were before there were any: old records stay good."""
    return {k: v for k, v in document.items() if v or k not in names}


class Usage(Value):
    """Tokens in disjoint buckets; `reasoning` is part of `output`."""

    fresh_input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """All tokens, each counted once."""
        return self.fresh_input + self.cache_read + self.cache_write + self.output


class ModelReply(Value):
    """A model's answer: text, calls of tools, or both, in the order given.

    `finish` is normalised; `cost_usd` overrides the price list (scripted models).
    """

    content: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish: Literal["stop", "length", "refusal", "other"] = "stop"
    model: str = ""
    cost_usd: Decimal | None = None
    attempts: int = 1


class Price(Value):
    """US dollars per million tokens; `source` names the list and its version."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal
    source: str

    def of(self, usage: Usage) -> Decimal:
        """US dollars for `usage`: each bucket at its own price, so each token once (case C3)."""
        dear = self.input * usage.fresh_input + self.output * usage.output
        cached = self.cache_read * usage.cache_read + self.cache_write * usage.cache_write
        return (dear + cached) / 1_000_000


class Model(Protocol):
    """One model at one provider. `call` raises `WorldFault` for the provider's faults, after retries
    within `timeout_seconds`, and `UsageError` for what the user set up wrongly (a key, a name, a script);
    what the model says, however odd, is a reply. Safe to call from several threads."""

    @property
    def name(self) -> str: ...
    def price(self) -> Price | None:
        """The price, or None if it is unknown. Unknown is never zero (A2)."""
        ...

    def call(self, request: ModelRequest) -> ModelReply: ...
