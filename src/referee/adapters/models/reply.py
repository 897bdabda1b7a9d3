"""A provider's answer in our words: text, finish and disjoint token buckets (case C3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from referee.ports import ModelReply, ModelRequest, ToolCall, Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.usage import RequestUsage

BYTES_PER_TOKEN = 3


def reply_of(response: ModelResponse, request: ModelRequest, name: str, attempts: int) -> ModelReply:
    """The reply that `response` is: all its text parts joined and its calls in order, reasoning left out."""
    from pydantic_ai.messages import TextPart, ToolCallPart

    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = tuple(
        ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=_written(part.args))
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    finish = _finish(response.finish_reason, text, bool(calls))
    if finish == "refusal" and not text:
        text = str((response.provider_details or {}).get("refusal") or "")
    usage = buckets(response.usage)
    if usage.total == 0:
        usage = guess(request, text + "".join(c.arguments for c in calls))
    model = response.model_name or name
    return ModelReply(content=text, calls=calls, usage=usage, finish=finish, model=model, attempts=attempts)


def _written(arguments: str | Mapping[str, Any] | None) -> str:
    """As the model wrote them, valid or not: whoever reads them says what is wrong."""
    return arguments if isinstance(arguments, str) else json.dumps(dict(arguments or {}))


def buckets(usage: RequestUsage) -> Usage:
    """Disjoint buckets from either convention: cached tokens inside the input tokens, or beside them.

    They are beside when they are more than the input; reasoning likewise with the output.
    """
    read, write = max(0, usage.cache_read_tokens), max(0, usage.cache_write_tokens)
    given, output = max(0, usage.input_tokens), max(0, usage.output_tokens)
    fresh = given - read - write if read + write <= given else given
    reasoning = max(0, usage.output_reasoning_tokens or usage.details.get("reasoning_tokens", 0))
    if reasoning > output:
        output += reasoning
    return Usage(fresh_input=fresh, cache_read=read, cache_write=write, output=output, reasoning=reasoning)


def guess(request: ModelRequest, text: str) -> Usage:
    """A high guess for a server that does not say: a token limit must hold all the same (case C5)."""
    texts = [request.system, *(m.content for m in request.messages)]
    texts += [c.arguments for m in request.messages for c in m.calls]
    texts += [json.dumps(t.model_dump(mode="json")) for t in request.tools]
    read = sum(len(t.encode("utf-8", "surrogatepass")) for t in texts)
    return Usage(fresh_input=-(-read // BYTES_PER_TOKEN), output=-(-len(text.encode()) // BYTES_PER_TOKEN))


def _finish(reason: str | None, text: str, called: bool) -> Literal["stop", "length", "refusal", "other"]:
    if reason == "content_filter":
        return "refusal"
    if reason == "length":
        return "length"
    if reason == "tool_call" and called:
        return "stop"
    return "stop" if reason in ("stop", None) and (text or called) else "other"
