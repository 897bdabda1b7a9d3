"""Edits onto a file's bytes: each `old` exactly once, untouched bytes identical (cases A33, A34, G6, G7)."""

from __future__ import annotations

import difflib
import itertools
import re

from referee.domain.proposal import Edit

SHOWN_LINES = 12
SHOWN_CHARS = 600
SHOWN_PLACES = 8
COMPARED_LINES = 200  # the thorough comparison is slow: only these many lines, the ones with most words in common
_WORD = re.compile(r"\w+")
BOM = b"\xef\xbb\xbf"


class Misfit(ValueError):
    """An edit that does not fit the file; the message says what is there instead."""


def splice(data: bytes, edits: tuple[Edit, ...]) -> bytes:
    """`data` with all edits made at once. Each is found in the original bytes; none may touch another.

    A newline in `old` matches the file's line ending and `new` takes on the line endings it replaces. In a file
    that is not UTF-8 only ASCII may be replaced. Raises `Misfit` with every problem found.
    """
    spans, problems = [], []
    for number, edit in enumerate(edits, start=1):
        try:
            spans.append((*_locate(data, edit, number), number))
        except Misfit as e:
            problems.append(str(e))
    spans.sort()
    for (_, end, _, first), (start, _, _, second) in itertools.pairwise(spans):
        if start < end:
            problems.append(f"edits {first} and {second} overlap; join them into one")
    if problems:
        raise Misfit("; ".join(problems))
    parts, done = [], 0
    for start, end, new, _ in spans:
        parts += [data[done:start], new]
        done = end
    return b"".join([*parts, data[done:]])


def replace_whole(data: bytes, content: str) -> bytes:
    """`content` as the file's new bytes, keeping a byte order mark and CRLF line endings it had throughout.

    Raises `Misfit` if the file is not UTF-8: whoever wrote `content` cannot have seen what is in it.
    """
    if not is_utf8(data):
        raise Misfit("the file is not UTF-8, so its whole content cannot be replaced; use edits of ASCII text")
    new = content.encode()
    if b"\r\n" in data and data.count(b"\r\n") == data.count(b"\n") and b"\r\n" not in new:
        new = new.replace(b"\n", b"\r\n")
    if data.startswith(BOM) and not new.startswith(BOM):
        new = BOM + new
    return new


def is_utf8(data: bytes) -> bool:
    """Whether `data` decodes strictly."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _locate(data: bytes, edit: Edit, number: int) -> tuple[int, int, bytes]:
    """Where the edit goes and the bytes to put there."""
    if not is_utf8(data) and not (edit.old + edit.new).isascii():
        raise Misfit(f"edit {number} is not ASCII, but the file is not UTF-8; change only ASCII text in it")
    old, new = (text.replace("\r\n", "\n").encode() for text in (edit.old, edit.new))
    # A lookahead, so that overlapping occurrences are counted too.
    pattern = re.compile(b"(?=(" + rb"\r?\n".join(re.escape(line) for line in old.split(b"\n")) + b"))")
    # One end, one occurrence: a leading newline matches with and without its carriage return.
    ends: dict[int, int] = {}
    for m in itertools.islice(pattern.finditer(data), 2 * SHOWN_PLACES):
        ends.setdefault(m.end(1), m.start(1))
    found = [(start, end) for end, start in ends.items()]
    if not found:
        raise Misfit(f"edit {number}: `old` is not in the file{_nearest(data, edit.old)}")
    if len(found) > 1:
        lines = ", ".join(str(_line(data, start)) for start, _ in found[:SHOWN_PLACES])
        count = f"{len(found)} times" if len(found) < SHOWN_PLACES else "many times"
        raise Misfit(f"edit {number}: `old` occurs {count} (lines {lines}); lengthen it until it is unique")
    start, end = found[0]
    return start, end, _with_endings(data, start, end, new)


def _with_endings(data: bytes, start: int, end: int, new: bytes) -> bytes:
    """`new` with the line endings of what it replaces: lines that stay keep theirs, others take their place's."""
    before, after = data[start:end].split(b"\n")[:-1], new.split(b"\n")
    endings = [b"\r\n" if line.endswith(b"\r") else b"\n" for line in before]
    old, lines = [line.removesuffix(b"\r") for line in before], after[:-1]
    head = _alike(old, lines)
    tail = _alike(old[head:][::-1], lines[head:][::-1])
    replaced = endings[head : len(endings) - tail]
    added = len(lines) - head - tail
    filler = replaced[-1] if replaced else endings[head - 1] if head else _ending_near(data, start)
    middle = [*replaced[:added], *[filler] * (added - len(replaced))]
    chosen = [*endings[:head], *middle, *endings[len(endings) - tail :]]
    return b"".join(line + ending for line, ending in zip(lines, chosen, strict=True)) + after[-1]


def _alike(a: list[bytes], b: list[bytes]) -> int:
    """How many items at the start of both are equal."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _ending_near(data: bytes, position: int) -> bytes:
    """The ending of the line at `position`, of the line before if it is the last one."""
    at = data.find(b"\n", position)
    if at < 0:
        at = data.rfind(b"\n", 0, position)
    return b"\r\n" if at > 0 and data[at - 1 : at] == b"\r" else b"\n"


def _nearest(data: bytes, old: str) -> str:
    """What in the file resembles `old` most, with its line."""
    lines = data.decode(errors="replace").splitlines()
    wanted = old.strip("\n").splitlines() or [old]
    key = max(wanted, key=lambda line: len(line.strip()))
    words = set(_WORD.findall(key))
    unique = dict.fromkeys(line.strip() for line in lines)
    likely = sorted(unique, key=lambda line: -len(words & set(_WORD.findall(line))))[:COMPARED_LINES]
    close = difflib.get_close_matches(key.strip(), likely, n=1, cutoff=0.6)
    if not close or not close[0]:
        return "; copy it from the file as shown"
    at = next(i for i, line in enumerate(lines) if line.strip() == close[0])
    first = max(0, at - wanted.index(key))
    region = lines[first : first + min(len(wanted), SHOWN_LINES)]
    hint = " (only white space differs)" if _squeezed(region) == _squeezed(wanted[:SHOWN_LINES]) else ""
    shown = "\n".join(region)[:SHOWN_CHARS]
    return f"; nearest is line {first + 1}{hint}, which reads exactly:\n{shown}"


def _squeezed(lines: list[str]) -> list[str]:
    return ["".join(line.split()) for line in lines]


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1
