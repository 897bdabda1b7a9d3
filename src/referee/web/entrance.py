"""Who may come in: the person with the link, from this machine, in one browser."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from threading import Lock


class Entrance:
    """A link that works once, the cookies that it was exchanged for, and a token for each form of theirs."""

    def __init__(self, port: int) -> None:
        self.cookie = f"referee-{port}"  # browsers do not tell ports apart
        self.hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self.token = secrets.token_urlsafe(32)
        self._used = False
        self._key = secrets.token_bytes(32)
        self._known: set[str] = set()
        self._lock = Lock()

    def exchange(self, token: str) -> str | None:
        """The cookie for the link's token, once; None for a wrong or used one."""
        with self._lock:
            if self._used or not hmac.compare_digest(token.encode(), self.token.encode()):
                return None
            self._used = True
            cookie = secrets.token_urlsafe(32)
            self._known.add(cookie)
            return cookie

    def knows(self, cookie: str) -> bool:
        """Whether a browser with this cookie was let in."""
        return cookie in self._known

    def form_token(self, cookie: str) -> str:
        """What a form of this browser's must carry, so that no other site can send it."""
        return hmac.new(self._key, cookie.encode(), hashlib.sha256).hexdigest()

    def own_form(self, cookie: str, token: str) -> bool:
        """Whether a form was sent by a page of ours in this browser."""
        return hmac.compare_digest(self.form_token(cookie), token)
