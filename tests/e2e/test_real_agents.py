"""Real agents from the registry as players, driven by a provider on loopback that they take for their own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "flows"))

import small

from referee import api
from referee.adapters.sandbox.egress import Outside
from referee.adapters.sandbox.egress.outside import RealNetwork
from referee.config import load
from referee.domain.task import Task
from referee.wiring import desk as opening

pytestmark = pytest.mark.skipif(
    not os.environ.get("REFEREE_AGENTS"), reason="installs half a gigabyte for each agent; REFEREE_AGENTS=1 runs it"
)
SECRET = "sk-only-outside-the-sandbox"
AGENTS = {"mini-swe-agent": "mini -m openai/gpt-5-mini", "aider-chat": "aider --model openai/gpt-4o calc.py"}
EDIT = "sed -i 's/a - b/a + b/' calc.py"
DONE = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
BLOCK = "calc.py\n```python\n<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE\n```\n"


class Provider(ThreadingHTTPServer):
    """Speaks the OpenAI chat format; an agent with tools gets calls of `bash`, another an edit block."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: list[dict[str, Any]] = []
        self.keys: set[str] = set()


class Answer(BaseHTTPRequestHandler):
    server: Provider
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        self.server.keys.add(self.headers["Authorization"])
        said: dict[str, Any] = {"role": "assistant", "content": BLOCK}
        if asked.get("tools"):
            command = json.dumps({"command": EDIT if len(self.server.asked) == 1 else DONE})
            call = {"id": f"c{len(self.server.asked)}", "type": "function"}
            said = {"role": "assistant", "content": "", "tool_calls": [
                {**call, "function": {"name": "bash", "arguments": command}}
            ]}  # fmt: skip
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        head = {"id": "x", "created": 1, "model": asked["model"], "usage": usage}
        if asked.get("stream"):
            chunks = [
                {"index": 0, "delta": said, "finish_reason": None},
                {"index": 0, "delta": {}, "finish_reason": "stop"},
            ]
            lines = [{**head, "object": "chat.completion.chunk", "choices": [chunk]} for chunk in chunks]
            body = "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"
        else:
            choice = {"index": 0, "message": said, "finish_reason": "stop"}
            body = json.dumps({**head, "object": "chat.completion", "choices": [choice]})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if asked.get("stream") else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


class Loopback(RealNetwork):
    """Every name is the provider's here, and no packet leaves the machine."""

    def __init__(self, port: int) -> None:
        self._port = port

    def resolve(self, host: str, port: int) -> tuple[str, ...]:
        return ("8.8.8.8",)  # a public address, which is never connected to

    def connect(self, address: str, port: int) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self._port), 10)

    def secure(self, wire: socket.socket, host: str) -> socket.socket:
        return wire


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    server = Provider()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setattr(opening, "Outside", partial(Outside, network=Loopback(server.server_port)))
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("package", AGENTS)
def test_a_real_agent_mends_a_repository_and_never_holds_the_key(
    package: str, provider: Provider, tmp_path: Path
) -> None:
    own = tmp_path / "agent"
    subprocess.run([sys.executable, "-m", "venv", own], check=True)
    subprocess.run([own / "bin/pip", "install", "--quiet", package], check=True)
    repo = small.build(tmp_path / "repo")
    flags = {"generator": f"command:{own}/bin/{AGENTS[package]}", "budget.timeout": 600.0, "budget.max_steps": 2}
    config = load(str(repo), flags=flags, variables={}, user_file="")
    outcome = api.fix(Task(repo=str(repo), text="add is wrong", targets=(small.TARGET,)), config)
    assert outcome.solved, outcome.report.feedback
    assert (repo / "calc.py").read_text() == small.FIXED
    assert provider.keys == {f"Bearer {SECRET}"}, "added outside, to every request"
    assert SECRET not in json.dumps(provider.asked)
    refused = [n for n in outcome.report.notes if "was refused" in n]
    assert all("api.openai.com" not in n for n in refused), "and nothing but its provider is reached"
