"""Text that can be shown anywhere: nothing in it can move a cursor, reverse a line or hide."""

from __future__ import annotations

import re
import unicodedata

_SUSPECT = re.compile(r"[^\n\t\x20-\x7e]")
# Controls, invisible format characters (bidirectional overrides), lone surrogates, private use, separators.
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def plain(text: str) -> str:
    """`text` with every control and invisible character but newline and tab written out, like `\\x1b`."""
    return _SUSPECT.sub(_written_out, text)


def line(text: str, width: int = 0) -> str:
    """`text` on one line, cut with an ellipsis to `width` characters if that is positive."""
    flat = " ".join(plain(text).split())
    return flat if not width or len(flat) <= width else flat[: max(0, width - 1)] + "…"


def _written_out(match: re.Match[str]) -> str:
    char = match.group()
    if unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
