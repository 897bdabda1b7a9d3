"""Listening on loopback."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from referee.api.watching import Watch
from referee.domain.errors import UsageError
from referee.web.app import application
from referee.web.entrance import Entrance

HOST = "127.0.0.1"


def serve(repo: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` is told the link. Port 0 takes any free one. Raises `UsageError` if taken."""
    with Watch(repo) as watch, _listening(port) as listener:
        entrance = Entrance(listener.getsockname()[1])
        config = uvicorn.Config(
            application(watch, entrance),
            log_config=None,
            lifespan="off",
            server_header=False,
            proxy_headers=False,  # who connects is not for a request to say
            timeout_graceful_shutdown=1,
        )
        ready(f"http://{HOST}:{listener.getsockname()[1]}/open?token={entrance.token}")
        uvicorn.Server(config).run(sockets=[listener])


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise UsageError(f"port {port} cannot be used ({error.strerror}); give another one with --port") from error
    listener.listen(64)
    return listener
