"""What stays the same when only time, addresses, places on disk or line numbers change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

Rule = tuple[re.Pattern[str], str]
_RANDOM: tuple[Rule, ...] = (
    (re.compile(r"\b0x[0-9a-fA-F]{4,}\b"), "0x…"),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "tmp…"),
    (re.compile(r"\b(id)(\s*[=:]\s*|\s+)(['\"]?)\d{9,}\b", re.IGNORECASE), r"\1\2\3#"),  # as mocks show theirs
)
# Never an observation, wherever they are.
_ALWAYS: tuple[Rule, ...] = (
    *_RANDOM,
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uuid>"),
)
_TIMES: tuple[Rule, ...] = (
    (
        re.compile(r"\b\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z\b| ?[+-]\d\d:?\d\d)?"),
        "<time>",
    ),
    (re.compile(r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"\b1[5-9]\d{8}\.\d\d+\b"), "<time>"),  # seconds since the epoch, as a clock tells them
)
_MEASURED: Rule = (re.compile(r"\b\d+\.\d\d+\s?(?:s|ms|us|µs|ns|secs?|seconds?)\b"), "<duration>")
_DURATIONS: tuple[Rule, ...] = (
    (re.compile(r"\b\d+m\s?\d+(?:\.\d+)?s\b"), "<duration>"),
    _MEASURED,
    (
        re.compile(r"\b\d+(?:[.,]\d+)*(?:e-?\d+)?\s?(?:[mnuµ]?s|secs?|(?:milli)?seconds?|mins?|minutes?)\b"),
        "<duration>",
    ),
)
_PORTS: tuple[Rule, ...] = (
    (re.compile(r"\b(127\.0\.0\.1|0\.0\.0\.0|localhost):\d+\b"), r"\1:#"),
    (re.compile(r"(\[::1?\]):\d+\b"), r"\1:#"),
    (re.compile(r"(['\"](?:127\.0\.0\.1|0\.0\.0\.0|localhost|::1?)['\"], ?)\d+\b"), r"\1#"),
)
_PLACES: tuple[Rule, ...] = (
    (re.compile(r"(\.[A-Za-z]\w{0,5}):\d+(?::\d+)?\b"), r"\1:#"),
    (re.compile(r"(\.[cm]?tsx?)\(\d+,\d+\)"), r"\1(#)"),
    (re.compile(r"\b(lines?) \d+(?:-\d+)?\b", re.IGNORECASE), r"\1 #"),
)
_NUMBERED: tuple[Rule, ...] = (
    (
        re.compile(r"\b(pid|port|thread|process|goroutine|seed|fd)((?: id)?(?:\s*[=:(]\s*|\s+)['\"]?)-?\d+\b", re.I),
        r"\1\2#",
    ),
    (re.compile(r"\b(Thread|Task|Process|ThreadPoolExecutor|Dummy)-\d+(?:_\d+)?\b"), r"\1-#"),
)
_DIGESTS: tuple[Rule, ...] = ((re.compile(r"\b(?=\d*[a-f])[0-9a-f]{32,64}\b"), "<digest>"),)
# Noise in what a tool says, but what a program computes may be just that.
_USUALLY = (_TIMES, _DURATIONS, _PORTS, _PLACES, _NUMBERED, _DIGESTS)
_TEMPORARY = re.compile(r"(?:/private)?(?:/var/folders|/var/tmp|/tmp|/dev/shm)/([^\s'\":,)\]}>]*)")
_SIDES = re.compile(r" (?:!=|==|is not|not in|not found in) (?P<expected>.+)")
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
    """Without addresses, durations, times, temporary paths, ids and line numbers: what is left is the observation."""
    return _TEMPORARY.sub(_temporary, _without(text, (*_ALWAYS, *chain(*_USUALLY))))


def observed(text: str, expected: str = "") -> str:
    """What was seen where `expected` (by default what the text itself compares with) should have been, steady.

    A test that expects a duration (a time, a port …) observes durations: where they are expected, they count.
    """
    if not expected:
        sides = _SIDES.search(text.split("\n", 1)[0])
        expected = sides["expected"] if sides else ""
    meant = [rules for rules in _USUALLY if not any(pattern.search(expected) for pattern, _ in rules)]
    text = _without(text, (*_ALWAYS, *chain(*meant)))
    return _TEMPORARY.sub(_named if _TEMPORARY.search(expected) else _temporary, text)


def lasting(text: str) -> str:
    """As it is, but for what is different in every run and says nothing: addresses, random names."""
    return _without(text, _RANDOM)


def timeless(text: str) -> str:
    """`lasting`, and without clock times and measured durations: for what a program prints on its way."""
    return _without(text, (*_RANDOM, *_TIMES, _MEASURED))


def coarse(text: str, limit: int = 200) -> str:
    """The shape of a message: `steady`, first line, without literals."""
    text = steady(text.strip().split("\n", 1)[0])
    for pattern, instead in _LITERALS:
        text = pattern.sub(instead, text)
    return text[:limit]


def _without(text: str, rules: Iterable[Rule]) -> str:
    for pattern, instead in rules:
        text = pattern.sub(instead, text)
    return text


def _named(match: re.Match[str]) -> str:
    """A file in a temporary folder, by its own name."""
    *folders, name = match[1].split("/")
    return f"/tmp/…/{name}" if folders and name else "/tmp/…"  # noqa: S108 - a word, not a file


def _temporary(match: re.Match[str]) -> str:
    """The same, where a name with digits in it is probably made up."""
    return "/tmp/…" if re.search(r"\d", match[1].rpartition("/")[2]) else _named(match)  # noqa: S108
