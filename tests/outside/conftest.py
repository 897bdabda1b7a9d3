"""Real servers on loopback: one that counts requests, and one that takes mail."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from neighbours import Post, Shop


@pytest.fixture(scope="session")
def _shop() -> Iterator[Shop]:
    shop = Shop()

    class Handler(http.server.BaseHTTPRequestHandler):
        def _serve(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            key = self.headers.get("Idempotency-Key", "")
            shop.got.append((self.command, self.path, key))
            shop.headers.append(dict(self.headers))
            shop.done[key] = shop.done.get(key, 0) + 1
            if shop.hang_up:
                self.close_connection = True
                return
            self.send_response(shop.status)
            self.send_header("Content-Length", "2")
            if shop.status == 302:
                self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(b"ok")

        do_GET = do_POST = do_DELETE = _serve

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    shop.url = f"http://127.0.0.1:{server.server_port}"
    yield shop
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def shop(_shop: Shop) -> Shop:
    _shop.got.clear(), _shop.headers.clear(), _shop.done.clear()
    _shop.status, _shop.hang_up = 201, False
    return _shop


@pytest.fixture(scope="session")
def _post() -> Iterator[Post]:
    from aiosmtpd.controller import Controller

    post = Post()

    class Handler:
        async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
            if address.startswith("nobody@"):
                return "550 there is no nobody"
            envelope.rcpt_tos.append(address)
            return "250 yes"

        async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
            if post.answer.startswith("250"):
                post.taken.append(envelope)
            return post.answer

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        post.port = free.getsockname()[1]
    controller = Controller(Handler(), hostname="127.0.0.1", port=post.port)
    controller.start()
    yield post
    controller.stop()


@pytest.fixture
def post(_post: Post) -> Post:
    _post.taken.clear()
    _post.answer = "250 taken"
    return _post
