"""The provider adapter against a real server that answers, refuses, breaks and stalls."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import model_server as server
import pytest
from pydantic import SecretStr

from referee.adapters.models.provider import Endpoint, ProviderModel
from referee.domain.errors import RefereeError, UsageError, WorldFault
from referee.ports import Message, ModelReply, ModelRequest

KEY = "sk-very-secret-0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def request(seconds: float = 5.0, **more: Any) -> ModelRequest:
    messages = (Message(role="user", content="why?"),)
    return ModelRequest(role="generator", system="You mend code.", messages=messages, timeout_seconds=seconds, **more)


def model(running: server.Server, **more: Any) -> ProviderModel:
    endpoint = Endpoint(base_url=running.url, api_key=SecretStr(KEY), backoff_seconds=0.01, **more)
    return ProviderModel("openai:tiny", endpoint, chance=lambda: 0.5)


def ask(*behaviours: server.Behaviour, seconds: float = 5.0, **more: Any) -> tuple[ModelReply, server.Server]:
    with server.serving(*behaviours) as running:
        return model(running, **more).call(request(seconds, reply_schema=SCHEMA)), running


def failure(kind: type[RefereeError], *behaviours: server.Behaviour, seconds: float = 5.0, **more: Any) -> str:
    with server.serving(*behaviours) as running, pytest.raises(kind) as raised:
        model(running, **more).call(request(seconds))
    assert KEY not in str(raised.value)
    return str(raised.value)


def test_an_answer_with_its_usage_and_what_was_sent() -> None:
    reply, running = ask(server.says('{"a": 1}'))
    assert (reply.content, reply.finish, reply.model, reply.attempts) == ('{"a": 1}', "stop", "tiny-1", 1)
    assert (reply.usage.fresh_input, reply.usage.output, reply.cost_usd) == (100, 20, None)
    sent = running.requests[0]
    assert [m["content"] for m in sent["messages"]] == ["You mend code.", "why?"]
    assert sent["messages"][0]["role"] == "system"
    assert sent["response_format"]["json_schema"]["schema"]["required"] == ["a"]
    assert sent["max_tokens"] == 8192
    assert running.headers[0]["authorization"] == f"Bearer {KEY}"


def test_the_conversation_keeps_its_order_and_its_prefix() -> None:
    with server.serving(server.says("{}")) as running:
        turns = [Message(role="user", content="1"), Message(role="assistant", content="2")]
        turns.append(Message(role="user", content="3"))
        model(running).call(request().model_copy(update={"messages": tuple(turns)}))
    sent = running.requests[0]["messages"]
    assert [(m["role"], m["content"]) for m in sent] == [
        ("system", "You mend code."),
        ("user", "1"),
        ("assistant", "2"),
        ("user", "3"),
    ]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_what_passes_is_tried_again(status: int) -> None:
    reply, running = ask(server.fails(status), server.fails(status), server.says("{}"))
    assert (reply.content, reply.attempts, len(running.requests)) == ("{}", 3, 3)


def test_retry_after_is_respected() -> None:
    began = time.monotonic()
    reply, _ = ask(server.fails(429, retry_after="1"), server.says("{}"))
    assert reply.attempts == 2
    assert 1.0 <= time.monotonic() - began < 20.0


def test_retry_after_beyond_the_deadline_is_not_waited_for() -> None:
    began = time.monotonic()
    text = failure(WorldFault, server.fails(429, retry_after="600"))
    assert time.monotonic() - began < 10.0
    assert "cannot be asked again" in text
    assert "429" in text


def test_a_lasting_fault_ends_after_six_tries() -> None:
    with server.serving(server.fails(500)) as running, pytest.raises(WorldFault, match=r"failed 6 times.*HTTP 500"):
        model(running).call(request())
    assert len(running.requests) == 6


@pytest.mark.parametrize("broken", [server.resets, server.raw(b'{"id": "c1", "choi'), server.raw(b"<html>")])
def test_broken_answers_are_tried_again(broken: server.Behaviour) -> None:
    reply, running = ask(broken, server.says("{}"))
    assert (reply.content, len(running.requests)) == ("{}", 2)


def test_a_server_that_is_not_there() -> None:
    with server.serving(server.says("{}")) as running:
        url = running.url
    gone = ProviderModel("openai:tiny", Endpoint(base_url=url, backoff_seconds=0.01))
    with pytest.raises(WorldFault, match="failed 6 times"):
        gone.call(request())


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, UsageError, "refused the key"),
        (403, UsageError, "refused the key"),
        (404, UsageError, "knows no model openai:tiny"),
        (402, WorldFault, "credit is used up"),
        (413, WorldFault, "rejected the request"),
        (400, WorldFault, "rejected the request"),
    ],
)
def test_what_does_not_pass_ends_at_once(status: int, kind: type[RefereeError], words: str) -> None:
    with server.serving(server.fails(status, f"bad key {KEY}")) as running, pytest.raises(kind, match=words) as raised:
        model(running).call(request())
    assert KEY not in str(raised.value)
    assert len(running.requests) <= 2


def test_keys_in_error_bodies_are_masked() -> None:
    text = failure(WorldFault, server.fails(413, f"given {KEY} and sk-other-9876543210 and\x1b[31m red"))
    assert "sk-other" not in text
    assert "\x1b" not in text


def test_a_server_without_schemas_is_asked_in_words() -> None:
    reply, running = ask(server.fails(400, "response_format is not supported"), server.says("{}"))
    assert reply.content == "{}"
    assert "response_format" in running.requests[0]
    assert "response_format" not in running.requests[1]


@pytest.mark.parametrize("behaviour", [server.hangs, server.dribbles, server.stalls])
@pytest.mark.parametrize("stream", [False, True])
def test_no_stall_outlives_the_deadline(behaviour: server.Behaviour, stream: bool) -> None:
    """Case C21: each read succeeds in time, the answer never comes."""
    began = time.monotonic()
    text = failure(WorldFault, behaviour, seconds=0.6, stream=stream)
    assert time.monotonic() - began < 10.0
    assert "within 1 s" in text or "0 s left" in text


def test_a_stream_that_falls_silent_is_tried_again_before_the_deadline() -> None:
    reply, running = ask(server.stalls, server.streams('{"a"', ": 1}"), stream=True, idle_seconds=0.3, seconds=10.0)
    assert (reply.content, len(running.requests)) == ('{"a": 1}', 2)


def test_a_streamed_answer_is_the_same_answer() -> None:
    reply, running = ask(server.streams('{"a"', ": 1}"), stream=True)
    assert (reply.content, reply.finish) == ('{"a": 1}', "stop")
    assert (reply.usage.fresh_input, reply.usage.output) == (100, 20)
    assert running.requests[0]["stream"] is True


def test_a_cut_answer_says_length() -> None:
    reply, _ = ask(server.says('{"a": ', finish="length"))
    assert (reply.finish, reply.content) == ("length", '{"a": ')


def test_a_refusal_is_a_reply_with_its_words() -> None:
    reply, _ = ask(server.says(None, refusal="I will not."))
    assert (reply.finish, reply.content) == ("refusal", "I will not.")


def test_an_empty_answer_is_a_reply_of_another_kind() -> None:
    reply, _ = ask(server.says(""))
    assert (reply.finish, reply.content) == ("other", "")


def test_reasoning_is_not_part_of_the_answer() -> None:
    reply, _ = ask(server.says('{"a": 1}', reasoning_content='perhaps {"a": 2}'))
    assert reply.content == '{"a": 1}'


def test_cached_tokens_inside_the_prompt_are_counted_once() -> None:
    """Case C3, first convention: {prompt 10 000, cached 9 000, completion 100}."""
    usage = {
        "prompt_tokens": 10_000,
        "completion_tokens": 100,
        "total_tokens": 10_100,
        "prompt_tokens_details": {"cached_tokens": 9_000},
        "completion_tokens_details": {"reasoning_tokens": 40},
    }
    reply, _ = ask(server.says("{}", usage=usage))
    used = reply.usage
    assert (used.fresh_input, used.cache_read, used.output, used.reasoning) == (1_000, 9_000, 100, 40)
    assert used.total == 10_100


def test_a_server_without_usage_is_guessed_high_rather_than_free() -> None:
    reply, _ = ask(server.says("x" * 300, usage=None))
    assert reply.usage.output == 100
    assert reply.usage.fresh_input > 0


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Who started us, such as a worker of many, may have the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_cancelling_from_the_waiting_thread_ends_the_call() -> None:
    with server.serving(server.hangs) as running:
        before = threading.active_count()
        stopper = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
        stopper.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            model(running).call(request(30.0))
        assert time.monotonic() - began < 10.0
        stopper.join()
        assert not [t for t in threading.enumerate() if t.name == "model call"], before


def test_calls_from_several_threads_do_not_disturb_each_other() -> None:
    with server.serving(server.says('{"a": 1}')) as running:
        shared, replies = model(running), []
        threads = [threading.Thread(target=lambda: replies.append(shared.call(request()).content)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert replies == ['{"a": 1}'] * 4


def test_the_price_of_a_server_is_unknown_until_it_is_stated() -> None:
    """Case C6: unknown is not zero, not even on loopback."""
    with server.serving(server.says("{}")) as running:
        assert model(running).price() is None
        assert ProviderModel("openai:gpt-5-mini", Endpoint(base_url=running.url)).price() is None
    assert ProviderModel("openai:gpt-5-mini").price() is not None


def test_a_hosted_provider_without_a_key_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        ProviderModel("openai:gpt-5-mini").call(request())


def test_an_unknown_provider_says_so() -> None:
    with pytest.raises(UsageError, match="nosuch:tiny cannot be used"):
        ProviderModel("nosuch:tiny").call(request())
    with pytest.raises(UsageError, match="PROVIDER:NAME"):
        ProviderModel("gpt-5-mini")


def test_an_address_of_the_wrong_form_says_so() -> None:
    with pytest.raises(UsageError, match="must begin with http"):
        ProviderModel("openai:tiny", Endpoint(base_url="localhost:8080"))


def test_without_the_extra_the_message_names_it() -> None:
    code = (
        "import sys; sys.modules['pydantic_ai'] = None\n"
        "from referee.adapters.models.provider import ProviderModel\n"
        "from referee.ports import Message, ModelRequest\n"
        "r = ModelRequest(role='generator', system='', messages=(Message(role='user', content='x'),))\n"
        "try: ProviderModel('openai:tiny').call(r)\n"
        "except Exception as e: print(type(e).__name__, e)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "UsageError hosted models need an extra: pip install 'referee[models]'\n"


def test_importing_the_adapter_imports_no_library() -> None:
    code = "import sys, referee.adapters.models.provider; print('pydantic_ai' in sys.modules, 'openai' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "False False\n"


def test_nothing_is_left_open() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            ask(server.fails(500), server.says("{}"))
