"""A server of tools that are not ours, for as long as a run lasts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from referee.domain.peers import Definition, Reply


class Peer(Protocol):
    """One connection. Raises `WorldFault` if the server cannot be reached or has ended; safe for several threads."""

    def definitions(self) -> tuple[Definition, ...]:
        """Its tools, asked for once when it was started."""
        ...

    def call(self, tool: str, arguments: Mapping[str, Any], seconds: float) -> Reply:
        """One call; one that takes longer than `seconds` is given up, and failed."""
        ...

    def close(self) -> None: ...
