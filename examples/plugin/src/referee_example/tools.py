"""A tool of the agent: a function whose parameters are the arguments, and whose docstring is what the model reads."""

from __future__ import annotations

from referee.domain.observation import Observation
from referee.domain.risk import Risk
from referee.tools import Room, tool


@tool("search", Risk.READ)
def count_lines(room: Room, path: str) -> Observation:
    """How many lines a file has."""
    content = room.read(room.located(path))  # of the agent's copy; a place outside of it is refused
    if content is None:
        raise ValueError(f"there is no file {path}")  # the model's to mend: it is told
    lines = content.count(b"\n")
    return Observation(text=f"{path}: {lines} lines")
