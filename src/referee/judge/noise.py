"""The gist of what a tool wrote whose output nobody here knows: its telling lines, then its end, without the noise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from referee.domain.finding import Frame
from referee.judge.normal import coarse, timeless

_CHARACTERS, _LINE = 1_200, 300  # of the gist, and of one line of it
_FIRST, _LAST = 2, 8  # lines of both ends that are always in it
_AFTER = 3  # lines that follow a telling one
_NOISE = re.compile(
    r"""^\W*$                                                            # rules and frames
    |\b\d{1,3}\ ?%[|\s\]]|\[[#=>\-. ]{6,}\]|[━█▏▎▍▌▋▊▉]{3}                # progress
    |^\s*(?:Collecting|Downloading|Downloaded|Requirement\ already|Using\ cached|Installing\ collected|Preparing
        |Building\ wheel|Fetching|Unpacking|Setting\ up|Selecting|Reading|Get:\d|Hit:\d|Resolving|Receiving|Obtaining
        |remote:)\b
    |^\s*(?:Compiling|Checking|Fresh|Blocking|Updating|Locking|Adding|Finished)\ \S
    |^npm\ (?:notice|warn|http)|^added\ \d+\ packages|packages\ are\ looking\ for\ funding
    |^make(?:\[\d+\])?:\ (?:Entering|Leaving)\ directory|^\[\d+/\d+\]
    |\b(?:DEBUG|TRACE|INFO)\b|^\s*(?:ok|PASS|PASSED|✓|✔)\b|\.\.\.\ ?(?:ok|PASSED|skipped)$|\bPASSED\b
    """,
    re.VERBOSE,
)
_TELLING = re.compile(
    r"(?i)\b(?:error|exception|fatal|panic(?:ked)?|fail(?:ed|ure|ures|s)?|traceback|assert\w*|expected|actual|got|want"
    r"|received|undefined|unexpected|cannot|not found|no such|denied|refused|killed|segmentation fault|aborted)\b"
    r"|\w(?:Error|Exception)\b|^E  |^\s*[✗✘×]"
)
_PYTHON = re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.+))?$')
_PLACES = (
    _PYTHON,
    re.compile(
        r"^\s*(?:-->|#|at (?:\S+ )?\(?|in )?\s*(?P<path>(?:[\w.@~+-]*/)*[\w.@+-]+\.[A-Za-z]\w{0,4})[:(](?P<line>\d+)"
    ),
    re.compile(r"\((?P<path>(?:[\w.@+-]*/)*[\w.@+-]+\.[A-Za-z]\w{0,4}):(?P<line>\d+)(?::\d+)?\)"),
)


def gist(lines: Sequence[str]) -> tuple[str, ...]:
    """The telling lines with what follows them, and both ends; the same for the same output."""
    kept = _folded(timeless(line.rstrip()) for line in lines if not noisy(line))
    wanted: set[int] = {*range(_FIRST), *range(len(kept) - _LAST, len(kept))}
    room = _CHARACTERS - sum(min(_LINE, len(kept[n])) for n in wanted if 0 <= n < len(kept))
    for n in _by_weight(kept):
        if n not in wanted:
            room -= min(_LINE, len(kept[n]))
            if room < 0:
                break
            wanted.add(n)
    return tuple(_joined(kept, wanted))


def noisy(line: str) -> bool:
    """Whether a line says nothing about what went wrong."""
    return not line.strip() or (bool(_NOISE.search(line)) and not re.search(r"(?i)error|fail|fatal", line))


def steady_lines(lines: Iterable[str]) -> list[str]:
    """What identifies the output: no noise, and no order, which parallel programs do not keep."""
    return sorted(line.strip() for line in lines if not noisy(line))


def place(lines: Iterable[str], relative: str) -> Frame | None:
    """The first place in the project that a line names; of a Python traceback the last. `relative` is the root."""
    found: Frame | None = None
    for line in lines:
        for pattern in _PLACES:
            match = pattern.search(line)
            path = match["path"].removeprefix(relative.rstrip("/") + "/").removeprefix("./") if match else "/"
            if match is None or path.startswith(("/", "../", "<", "node_modules/")):
                continue
            named = match.groupdict().get("function") or ""
            frame = Frame(path=path, line=int(match["line"]), function=named)
            if pattern is not _PYTHON:
                return found or frame
            found = frame
    return found


def _folded(lines: Iterable[str]) -> list[str]:
    """Lines of one shape that follow each other, by the first of them and a count."""
    kept: list[str] = []
    for _, same in groupby(lines, key=coarse):
        first, *others = same
        kept += [first, *others] if len(others) < 3 else [first, f"… {len(others)} more such lines"]
    return kept


def _by_weight(lines: Sequence[str]) -> Iterator[int]:
    """Telling lines first, then what follows each, then the rest from the end."""
    telling = [n for n, line in enumerate(lines) if _TELLING.search(line)]
    yield from telling
    for distance in range(1, _AFTER + 1):
        yield from (n + distance for n in telling if n + distance < len(lines))
    yield from range(len(lines) - 1, -1, -1)


def _joined(lines: Sequence[str], wanted: set[int]) -> Iterator[str]:
    before = -1
    for n in sorted(n for n in wanted if 0 <= n < len(lines)):
        if n > before + 1:
            yield f"… {n - before - 1} lines …"
        before = n
        text = lines[n]
        yield text if len(text) <= _LINE else f"{text[: _LINE * 2 // 3]} … {text[-_LINE // 4 :]}"
