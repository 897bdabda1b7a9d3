"""The servers that a repository names."""

from __future__ import annotations

import json
import os

from referee.adapters.hooks.places import document
from referee.domain.peers import Server, servers

PLACE = ".mcp.json"


def read(root: str) -> tuple[tuple[Server, ...], tuple[str, ...]]:
    """The servers in `.mcp.json`, and in words what was left out."""
    try:
        found = document(os.path.join(root, PLACE))
    except (OSError, json.JSONDecodeError, ValueError, RecursionError) as wrong:
        return (), (f"{PLACE} cannot be read: {wrong}",)
    named, notes = servers(found) if found is not None else ((), ())
    return named, tuple(f"{PLACE}: {note}" for note in notes)
