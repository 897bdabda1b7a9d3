"""Tool calls over real connections, in the wire formats of OpenAI and Anthropic: sent, read, and paired by id."""

from __future__ import annotations

import json
from typing import Any

import model_server as server
import pytest
from pydantic import SecretStr

from referee.adapters.models.prices import stated
from referee.adapters.models.provider import Endpoint, ProviderModel
from referee.ports import Message, ModelReply, ModelRequest, ToolCall
from referee.tools import Toolbox

CALLS = (
    ToolCall(id="call_a", name="read", arguments='{"path": "x"}'),
    ToolCall(id="call_b", name="grep", arguments='{"pattern": "y"}'),
)
REQUEST = ModelRequest(
    role="agent",
    system="static",
    messages=(
        Message(role="user", content="look"),
        Message(role="assistant", content="I will", calls=CALLS),
        Message(role="tool", content="one", call_id="call_a", tool="read"),
        Message(role="tool", content="two", call_id="call_b", tool="grep"),
    ),
    tools=Toolbox().specs,
    timeout_seconds=20.0,
)


def openai() -> dict[str, Any]:
    calls = [
        {"id": f"n{n}", "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": f"{n}"})}}
        for n in range(2)
    ]
    return server.completion(None, "tool_calls", tool_calls=calls)


def anthropic() -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": f"n{n}", "name": "read", "input": {"path": f"{n}"}} for n in range(2)]
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": "claude-tiny", "stop_reason": "tool_use",
        "stop_sequence": None, "content": [{"type": "text", "text": "both"}, *blocks],
        "usage": {"input_tokens": 10, "output_tokens": 7},
    }  # fmt: skip


def ask(name: str, document: dict[str, Any]) -> tuple[ModelReply, dict[str, Any]]:
    body = json.dumps(document).encode()
    with server.serving(lambda handler: handler.send(200, body)) as running:
        url = running.url if name.startswith("openai") else running.url.removesuffix("/v1")
        model = ProviderModel(name, Endpoint(base_url=url, api_key=SecretStr("k"), price=stated("1,2")))
        return model.call(REQUEST), running.requests[0]


@pytest.mark.parametrize(("name", "document"), [("openai:tiny", openai()), ("anthropic:claude-opus-4-8", anthropic())])
def test_parallel_calls_come_back_with_their_ids(name: str, document: dict[str, Any]) -> None:
    pytest.importorskip("pydantic_ai", reason="the extra referee[models] is not installed")
    reply, _ = ask(name, document)
    assert [(c.id, c.name, json.loads(c.arguments)) for c in reply.calls] == [
        ("n0", "read", {"path": "0"}), ("n1", "read", {"path": "1"}),
    ]  # fmt: skip
    assert reply.finish == "stop"


def test_openai_is_sent_every_call_and_its_result_under_one_id() -> None:
    _, sent = ask("openai:tiny", openai())
    assistant, one, two = sent["messages"][-3:]
    assert (
        [c["id"] for c in assistant["tool_calls"]] == [one["tool_call_id"], two["tool_call_id"]] == ["call_a", "call_b"]
    )
    assert (one["role"], one["content"], two["content"]) == ("tool", "one", "two")
    assert {t["function"]["name"] for t in sent["tools"]} == {t.name for t in Toolbox().specs}


def test_anthropic_is_sent_all_results_of_an_answer_in_one_message() -> None:
    pytest.importorskip("anthropic", reason="the extra referee[models] is not installed: no anthropic")
    _, sent = ask("anthropic:claude-opus-4-8", anthropic())
    assistant, results = sent["messages"][-2:]
    assert [b["id"] for b in assistant["content"] if b["type"] == "tool_use"] == ["call_a", "call_b"]
    assert [b["tool_use_id"] for b in results["content"] if b["type"] == "tool_result"] == ["call_a", "call_b"]
    assert results["role"] == "user"
