"""The marks that tell a model what it was not shown, and whether one of them came back inside a file (case G13)."""

from __future__ import annotations

import re

_MARK = re.compile(r"\[referee: [^\]\n]{1,200} not shown\]")


def left_out(what: str) -> str:
    """The mark that stands in a prompt where `what` (such as "lines 10-40") was left out."""
    return f"[referee: {what} not shown]"


def marks(text: str) -> int:
    """How many such marks are in `text`."""
    return len(_MARK.findall(text))
