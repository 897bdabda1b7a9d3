"""What the servers of these tests remember of those who asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Shop:
    """A server that does what a request asks once per Idempotency-Key, and remembers every request it got."""

    url: str = ""
    got: list[tuple[str, str, str]] = field(default_factory=list)  # method, path, key
    headers: list[dict[str, str]] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)
    status: int = 201
    hang_up: bool = False


@dataclass
class Post:
    """A mail server: the envelopes that it took, and what it says to the next message."""

    port: int = 0
    taken: list[Any] = field(default_factory=list)
    answer: str = "250 taken"
