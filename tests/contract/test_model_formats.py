"""The wire formats of Anthropic and Google, over real connections to a server on loopback that plays the provider."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import model_server as server
import pytest
from pydantic import SecretStr

from referee.adapters.models.provider import Endpoint, ProviderModel
from referee.context.prompt import system
from referee.context.schema import proposal_schema
from referee.domain.errors import UsageError, WorldFault
from referee.ports import Message, ModelReply, ModelRequest, Usage

ANTHROPIC, GOOGLE = "anthropic:claude-opus-4-8", "google:gemini-2.5-flash"
REQUEST = ModelRequest(
    role="generator",
    system=system("generator"),
    messages=(Message(role="user", content="mend it"),),
    reply_schema=proposal_schema(),
    reply_name="patch_proposal",
    max_tokens=500,
    timeout_seconds=20.0,
)


def needs(name: str) -> None:
    package = "anthropic" if name == ANTHROPIC else "google.genai"
    pytest.importorskip(package, reason=f"the extra referee[models] is not installed: no {package}")


def anthropic(*texts: str, stop: str = "end_turn") -> server.Behaviour:
    usage = {
        "input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 7,
    }  # fmt: skip
    return _json(
        {
            "id": "m1", "type": "message", "role": "assistant", "model": "claude-tiny", "stop_reason": stop,
            "stop_sequence": None, "content": [{"type": "text", "text": t} for t in texts], "usage": usage,
        }
    )  # fmt: skip


def google(*texts: str, stop: str = "STOP") -> server.Behaviour:
    usage = {
        "promptTokenCount": 100, "cachedContentTokenCount": 90, "candidatesTokenCount": 4, "thoughtsTokenCount": 3,
        "totalTokenCount": 107,
    }  # fmt: skip
    content = {"role": "model", "parts": [{"text": t} for t in texts]}
    candidate = {"content": content, "finishReason": stop, "index": 0}
    return _json({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-tiny", "responseId": "r"})


def _json(document: dict[str, Any]) -> server.Behaviour:
    return lambda handler: handler.send(200, json.dumps(document).encode())


PROVIDERS: dict[str, tuple[Callable[..., server.Behaviour], Usage]] = {
    ANTHROPIC: (anthropic, Usage(fresh_input=10, cache_read=90, cache_write=5, output=7)),
    GOOGLE: (google, Usage(fresh_input=10, cache_read=90, output=7, reasoning=3)),
}
everyone = pytest.mark.parametrize("name", PROVIDERS)


def ask(name: str, *behaviours: server.Behaviour) -> tuple[ModelReply, server.Server]:
    needs(name)
    with server.serving(*behaviours) as running:
        endpoint = Endpoint(
            base_url=running.url.removesuffix("/v1"), api_key=SecretStr("k-outside-1"), backoff_seconds=0.01
        )
        return ProviderModel(name, endpoint, chance=lambda: 0.0).call(REQUEST), running


@everyone
def test_the_parts_of_a_reply_are_joined_and_its_tokens_counted_once(name: str) -> None:
    """Case C3: both conventions, cached tokens beside the input or within it."""
    says, usage = PROVIDERS[name]
    reply, running = ask(name, says('{"a":', " 1}"))
    assert (reply.content, reply.finish, reply.usage) == ('{"a": 1}', "stop", usage)
    assert len(running.requests) == 1


@everyone
def test_the_static_prefix_is_the_system_text_and_comes_whole(name: str) -> None:
    says, _ = PROVIDERS[name]
    _, running = ask(name, says("{}"))
    (body,) = running.requests
    if name == ANTHROPIC:
        blocks = body["system"]
        assert "".join(b["text"] for b in blocks) == REQUEST.system
        assert blocks[-1]["cache_control"]["type"] == "ephemeral", "the provider's own cache marker"
        assert body["max_tokens"] == 500
        assert any("k-outside-1" in value for value in running.headers[0].values())
        assert running.paths[0].startswith("/v1/messages")
    else:
        assert "".join(p["text"] for p in body["systemInstruction"]["parts"]) == REQUEST.system
        assert body["generationConfig"]["maxOutputTokens"] == 500
        assert running.headers[0]["x-goog-api-key"] == "k-outside-1"
        assert ":generateContent" in running.paths[0]


@everyone
def test_the_schema_goes_by_the_providers_own_mechanism(name: str) -> None:
    says, _ = PROVIDERS[name]
    _, running = ask(name, says("{}"))
    (body,) = running.requests
    body.pop("system" if name == ANTHROPIC else "systemInstruction")
    assert "root_cause" in json.dumps(body), "outside of the prompt"


@everyone
@pytest.mark.parametrize("finish", ["length", "refusal"])
def test_a_reply_that_ends_otherwise_says_so(name: str, finish: str) -> None:
    says, _ = PROVIDERS[name]
    stops = {
        (ANTHROPIC, "length"): "max_tokens", (ANTHROPIC, "refusal"): "refusal",
        (GOOGLE, "length"): "MAX_TOKENS", (GOOGLE, "refusal"): "SAFETY",
    }  # fmt: skip
    reply, _ = ask(name, says('{"a', stop=stops[name, finish]))
    assert reply.finish == finish


@everyone
@pytest.mark.parametrize("status", [429, 500, 529])
def test_what_passes_is_tried_again(name: str, status: int) -> None:
    says, _ = PROVIDERS[name]
    reply, running = ask(name, server.fails(status), says("{}"))
    assert (reply.content, reply.attempts, len(running.requests)) == ("{}", 2, 2)


@everyone
def test_a_refused_key_is_the_users_to_mend_and_not_repeated(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        ask(name, server.fails(401, "bad key k-outside-1"))
    assert "k-outside-1" not in str(raised.value)


@everyone
def test_what_is_no_answer_at_all_is_the_providers_fault(name: str) -> None:
    with pytest.raises(WorldFault):
        ask(name, server.raw(b"<html>not json</html>"))
