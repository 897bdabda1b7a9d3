"""A real HTTP server on loopback that speaks the OpenAI chat format, well or badly, as it is told."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Handler"], None]


class Server(ThreadingHTTPServer):
    """Serves one behaviour per request, the last one for ever, and remembers what was asked."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, behaviours: list[Behaviour]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviours = behaviours
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is expected here."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(json.loads(body))
        self.server.paths.append(self.path)
        self.server.headers.append({k.lower(): v for k, v in self.headers.items()})
        turn = min(len(self.server.requests), len(self.server.behaviours)) - 1
        self.server.behaviours[turn](self)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **(headers or {}),
        }.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def begin(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, document: Any) -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        self.wfile.write(f"data: {text}\n\n".encode())
        self.wfile.flush()


USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def completion(content: str | None, finish: str = "stop", usage: Any = USAGE, **message: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    found = {"id": "c1", "object": "chat.completion", "created": 1, "model": "tiny-1", "choices": [choice]}
    return found if usage is None else {**found, "usage": usage}


def says(content: str | None, finish: str = "stop", usage: Any = USAGE, **message: Any) -> Behaviour:
    document = completion(content, finish, usage, **message)
    return lambda handler: handler.send(200, json.dumps(document).encode())


def fails(status: int, message: str = "no", **headers: str) -> Behaviour:
    body = json.dumps({"error": {"message": message, "type": "t", "code": "c"}}).encode()
    return lambda handler: handler.send(status, body, {k.replace("_", "-"): v for k, v in headers.items()})


def raw(body: bytes) -> Behaviour:
    return lambda handler: handler.send(200, body)


def resets(handler: Handler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def hangs(handler: Handler) -> None:
    handler.server.closing.wait(30)
    handler.close_connection = True


def dribbles(handler: Handler) -> None:
    """Headers, then white space for ever: every read succeeds, so no read time-out ever fires."""
    handler.begin("application/json")
    with contextlib.suppress(OSError):
        while not handler.server.closing.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()


def _chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "tiny-1", "choices": choices, **more}


def streams(*pieces: str) -> Behaviour:
    def behave(handler: Handler) -> None:
        handler.begin("text/event-stream")
        for piece in pieces:
            handler.event(_chunk({"role": "assistant", "content": piece}))
        handler.event(_chunk({}, "stop"))
        handler.event({**_chunk({}), "choices": [], "usage": USAGE})
        handler.event("[DONE]")

    return behave


def stalls(handler: Handler) -> None:
    """One piece of an answer, then comment lines for ever (case C21)."""
    handler.begin("text/event-stream")
    with contextlib.suppress(OSError):
        handler.event(_chunk({"role": "assistant", "content": "{"}))
        while not handler.server.closing.wait(0.05):
            handler.wfile.write(b": still here\n\n")
            handler.wfile.flush()


@contextlib.contextmanager
def serving(*behaviours: Behaviour) -> Iterator[Server]:
    server = Server(list(behaviours))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
