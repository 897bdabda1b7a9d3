"""Output in a form that a model can read: without control sequences, in pages, with what is missing said."""

from __future__ import annotations

import re

from referee.domain.notices import left_out

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def readable(data: bytes) -> tuple[str, int]:
    """Text, and how many bytes of it were no UTF-8. Colours go; of a line that a program rewrote, its last state."""
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    text = _ANSI.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub("?", text), bad


def both_ends(text: str, most: int) -> str:
    """`text`, or its beginning and its end with a mark between them; a failure is mostly told at the end."""
    if len(text) <= most:
        return text
    head, tail = most // 3, most - most // 3
    missing = len(text) - head - tail
    return f"{text[:head]}\n{left_out(f'{missing} characters')}\n{text[-tail:]}"


def counted(n: int, what: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{n} {what}" if n == 1 else f"{n} {what}es" if what.endswith("ch") else f"{n} {what}s"
