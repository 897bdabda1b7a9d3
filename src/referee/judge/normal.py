"""What stays the same when only time, addresses, places on disk or line numbers change."""

from __future__ import annotations

import re

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_VOLATILE = (
    (re.compile(r"\b0x[0-9a-fA-F]{4,}\b"), "0x…"),
    (re.compile(r"(?:/private)?(?:/var/folders|/tmp|/var/tmp|/dev/shm)/[^\s'\":,)\]}>]*"), "/tmp/…"),  # noqa: S108 - a pattern, not a file
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d+)?(?:e-?\d+)?\s?(?:s|ms|us|µs|ns|secs?|seconds?|minutes?)\b"), "<duration>"),
    (re.compile(r"(\.(?:py|[cm]?[jt]sx?|rs|go|c|h|cc|cpp|java|kt|rb)):\d+(?::\d+)?\b"), r"\1:#"),
    (re.compile(r"(\.[cm]?tsx?)\(\d+,\d+\)"), r"\1(#)"),
    (re.compile(r"\b(127\.0\.0\.1|localhost|\[::1\]):\d+\b"), r"\1:#"),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "tmp…"),
    (re.compile(r"\bline \d+\b"), "line #"),
    (re.compile(r"\b(pid|port|thread|id)([ =:]+)\d+\b", re.IGNORECASE), r"\1\2#"),
)
_LITERALS = (
    (re.compile(r"'[^'\n]{0,300}'|\"[^\"\n]{0,300}\""), "'…'"),
    (re.compile(r"(?<![A-Za-z_])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"), "#"),
)


def plain(text: str) -> str:
    """Without terminal escapes and control characters, which a provider refuses and a terminal obeys (case E11)."""
    return _CONTROL.sub("\ufffd", _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n"))


def decode(data: bytes) -> str:
    """Any bytes as plain text."""
    return plain(data.decode("utf-8", "replace"))


def steady(text: str) -> str:
    """Without addresses, durations, times, temporary paths and line numbers: what is left is the observation."""
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    return text


def coarse(text: str, limit: int = 200) -> str:
    """The shape of a message: `steady`, first line, without literals."""
    text = steady(text.strip().split("\n", 1)[0])
    for pattern, instead in _LITERALS:
        text = pattern.sub(instead, text)
    return text[:limit]
