"""What every model is to the kernel: scripted, recorded, and a provider over a real connection."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import model_server as server
import pytest

from referee.adapters.models.prices import stated
from referee.adapters.models.provider import Endpoint, ProviderModel
from referee.adapters.models.recorded import RecordedModel, RecordingModel
from referee.adapters.models.scripted import ScriptedModel
from referee.ports import Message, Model, ModelReply, ModelRequest

REPLY = '{"a": 1}'
KINDS = ["scripted", "provider", "streaming", "recording", "recorded"]


def request(ordinal: int = 0) -> ModelRequest:
    return ModelRequest(
        role="fixer",
        system="static",
        messages=(Message(role="user", content="why?"),),
        reply_schema={"type": "object", "properties": {"a": {"type": "integer"}}},
        timeout_seconds=10.0,
        ordinal=ordinal,
    )


@contextlib.contextmanager
def opened(kind: str, folder: Path) -> Iterator[Model]:
    if kind == "scripted":
        script = folder / "script.jsonl"
        script.write_text(json.dumps({"role": "fixer", "content": REPLY, "input_tokens": 100, "output_tokens": 20}))
        yield ScriptedModel(str(script))
        return
    answer = server.streams('{"a"', ": 1}") if kind == "streaming" else server.says(REPLY)
    with server.serving(answer) as running:
        endpoint = Endpoint(base_url=running.url, price=stated("1,2"), stream=kind == "streaming")
        provider = ProviderModel("openai:tiny", endpoint)
        if kind in ("provider", "streaming"):
            yield provider
            return
        recording = RecordingModel(provider, str(folder / "recording.jsonl"))
        if kind == "recording":
            yield recording
            return
        for ordinal in range(3):
            recording.call(request(ordinal))
    yield RecordedModel(str(folder / "recording.jsonl"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_answers_with_content_usage_and_finish(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as model:
        reply = model.call(request())
    assert (reply.content, reply.finish) == (REPLY, "stop")
    assert (reply.usage.fresh_input, reply.usage.output, reply.usage.total) == (100, 20, 120)
    assert reply.model


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_has_a_name_and_a_price_and_both_are_steady(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as model:
        assert ":" in model.name
        assert model.name == model.name
        price = model.price()
        assert price is not None
        assert price == model.price()
        assert price.source


@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_survives_the_journal(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as model:
        reply = model.call(request(1))
    assert ModelReply.model_validate_json(reply.model_dump_json()) == reply


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_may_be_called_from_several_threads(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as model:
        replies: list[str] = []
        threads = [threading.Thread(target=lambda: replies.append(model.call(request(1)).content)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert replies == [REPLY] * 4
