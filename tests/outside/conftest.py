"""Real servers on loopback: one that counts requests, one that takes mail, and a PostgreSQL of our own."""

from __future__ import annotations

import glob
import http.server
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
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


def _programs() -> str | None:
    found = shutil.which("initdb")
    places = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    return str(Path(found).resolve().parent) if found else places[0] if places else None


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a database on a free port; the server runs as an ordinary user and ends with the tests."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    pytest.importorskip("psycopg")
    with tempfile.TemporaryDirectory(prefix="pg-") as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        who: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            os.chmod(folder, 0o755)
            os.chown(folder, 65534, 65534)
            who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        place = f"{folder}/data"
        initdb = [*who, f"{programs}/initdb", "-D", place, "-U", "shop", "-A", "trust", "--no-sync", "-E", "UTF8"]
        made = subprocess.run(initdb, capture_output=True, text=True, cwd=folder, check=False)
        assert made.returncode == 0, made.stderr
        settings = f"-h 127.0.0.1 -p {port} -k {folder} -F -c shared_buffers=16MB -c max_connections=20"
        serve = [*who, f"{programs}/pg_ctl", "-D", place, "-w", "-l", f"{folder}/log", "-o", settings, "start"]
        started = subprocess.run(serve, capture_output=True, text=True, cwd=folder, check=False)
        assert started.returncode == 0, started.stderr + started.stdout
        try:
            yield f"postgresql://shop@127.0.0.1:{port}/postgres"
        finally:
            stop = [*who, f"{programs}/pg_ctl", "-D", place, "-m", "immediate", "stop"]
            subprocess.run(stop, capture_output=True, cwd=folder, check=False)
