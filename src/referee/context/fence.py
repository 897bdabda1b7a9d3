"""Marking text from the repository and from test runs as data, so that it cannot pass for instructions."""

from __future__ import annotations

import re

from referee.domain.notices import left_out

_RUN = re.compile(r"`+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def fenced(text: str, label: str = "") -> str:
    """`text` between fences longer than any run of backticks in it: no content can close them."""
    longest = max((len(run) for run in _RUN.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{label}\n{text.removesuffix(chr(10))}\n{fence}"


def plain(text: str) -> str:
    """`text` on one line without control characters, for names and for short quotations."""
    return _CONTROL.sub("?", text.replace("\n", " "))


def clipped(text: str, limit: int) -> str:
    """`text`, or both its ends and a mark for what is missing between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n{left_out(f'{len(text) - 2 * half} characters')}\n{text[-half:]}"
