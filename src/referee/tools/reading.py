"""The tools that look at files: read, glob."""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from typing import Annotated

from pydantic import Field

from referee.domain.guides import above
from referee.domain.observation import Observation, Seen, failed
from referee.domain.risk import Risk
from referee.tools.room import OUTPUTS, Room
from referee.tools.tool import tool
from referee.tools.words import counted, readable

MOST_LINES, MOST_COLUMNS, MOST_BYTES = 2_000, 2_000, 50 * 1024
MOST_PATHS = 100
GUIDE_CHARS = 4_000
_MAGIC = {b"\x89PNG": "PNG image", b"\xff\xd8\xff": "JPEG image", b"GIF8": "GIF image", b"%PDF": "PDF document"}


@tool("files", Risk.READ)
def read(
    room: Room,
    path: str,
    offset: Annotated[int, Field(ge=1, description="first line")] = 1,
    limit: Annotated[int, Field(ge=1, le=MOST_LINES)] = MOST_LINES,
) -> Observation:
    """Read a file (numbered lines) or list a folder. Read a file before you change it.

    Not for finding where something is: use grep. Not for running or testing: use bash or check.
    """
    place = room.located(path)
    data = room.read(place)
    if data is None:
        return _folder(room, place) or failed(f"there is no file {place}{_like(place, room.paths())}")
    kind = _binary(data)
    if kind:
        return Observation(text=f"{place} is a {kind} of {len(data)} bytes; it cannot be shown as text")
    text, bad = readable(data)
    lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else []
    if offset > max(1, len(lines)):
        return failed(f"{place} has {counted(len(lines), 'line')}; offset {offset} is beyond its end")
    shown, cut = _page(lines, offset, limit)
    last = offset + len(shown) - 1
    meta = [f"{place}: lines {offset}-{last} of {len(lines)}" if lines else f"{place}: empty"]
    meta += [f"read on with offset={last + 1}"] if last < len(lines) else []
    meta += [f"{counted(cut, 'line')} cut at {MOST_COLUMNS} characters"] if cut else []
    meta += [f"{bad} bytes are no UTF-8"] if bad else []
    seen = _seen(room, place, data, (offset, last, len(lines)), complete=not cut)
    told, guides = _guides(room, place)
    return Observation(text="\n".join([*told, *shown, f"[{'; '.join(meta)}]"]), seen=(seen, *guides))


def _guides(room: Room, path: str) -> tuple[list[str], list[Seen]]:
    """How things are done in the folders above a file, told when the first of their files is read."""
    told, seen = list[str](), list[Seen]()
    for found in above(path, frozenset(room.paths())):
        data = room.read(found) or b""
        if found not in room.seen:
            text = readable(data)[0][:GUIDE_CHARS].rstrip("\n")
            told.append(f"[{found} says, as advice:]\n{text}\n[end of {found}]")
            seen.append(Seen(path=found, version=version(data)))
    return told, seen


def _page(lines: list[str], offset: int, limit: int) -> tuple[list[str], int]:
    shown, size, cut = list[str](), 0, 0
    for n, line in enumerate(lines[offset - 1 : offset - 1 + limit], start=offset):
        row = f"{n}\t{line[:MOST_COLUMNS]}"
        size += len(row.encode("utf-8", "surrogatepass")) + 1
        if size > MOST_BYTES and shown:
            break
        cut += len(line) > MOST_COLUMNS
        shown.append(row)
    return shown, cut


def _seen(room: Room, path: str, data: bytes, page: tuple[int, int, int], *, complete: bool) -> Seen:
    """What is known of the file with this page: all of it, once every line was shown in some page."""
    first, last, total = page
    now = version(data)
    before = room.seen.get(path)
    upto = before.upto if before is not None and before.version == now else 0
    upto = max(upto, last) if first <= upto + 1 and complete else upto
    return Seen(path=path, version=now, upto=upto, whole=upto >= total)


def version(data: bytes) -> str:
    """What tells one content of a file from another."""
    return hashlib.sha256(data).hexdigest()[:20]


def _binary(data: bytes) -> str:
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            return kind
    return "binary file" if b"\0" in data[:8_192] else ""


def _folder(room: Room, place: str) -> Observation | None:
    prefix = "" if place == "." else f"{place}/"
    names: dict[str, int] = {}
    for path in (*room.paths(), *(p for p in room.scratch if not p.startswith(OUTPUTS))):
        if path.startswith(prefix):
            head, slash, _ = path[len(prefix) :].partition("/")
            names[head + slash] = names.get(head + slash, 0) + 1
    if not names:
        return None
    rows = [f"{n} ({counted(k, 'file')})" if n.endswith("/") else n for n, k in sorted(names.items())]
    more = [f"and {len(rows) - MOST_PATHS} more; glob narrows it down"] if len(rows) > MOST_PATHS else []
    return Observation(text="\n".join([*rows[:MOST_PATHS], *more, f"[{place}: folder, {counted(len(rows), 'entry')}]"]))


def _like(place: str, paths: Iterable[str]) -> str:
    name = place.rpartition("/")[2].casefold()
    close = [p for p in paths if p.rpartition("/")[2].casefold() == name][:3]
    return f"; did you mean {' or '.join(close)}?" if close else "; glob and grep find files"


@tool("search", Risk.READ)
def glob(room: Room, pattern: str, path: str = ".", ignored: bool = False) -> Observation:
    """Find files by name, such as **/*.py or test_*.py; what git ignores only with ignored=true.

    Not for contents: use grep.
    """
    place = room.located(path)
    prefix = "" if place == "." else f"{place}/"
    known = [*room.paths(), *(room.scratch if ignored else ())]
    wanted = _matcher(pattern)
    found = [p for p in sorted(known) if p.startswith(prefix) and wanted.fullmatch(p[len(prefix) :])]
    if not found:
        return Observation(text=f"[no file matches {pattern} in {place}; {counted(len(known), 'file')} looked at]")
    first = [p for p in found if p in room.seen or p in room.scratch]  # what this run works on comes first
    ordered = [*first, *(p for p in found if p not in first)]
    meta = f"[{min(len(found), MOST_PATHS)} of {counted(len(found), 'match')}]"
    return Observation(text="\n".join([*ordered[:MOST_PATHS], meta]))


@cache
def _matcher(pattern: str) -> re.Pattern[str]:
    """A pattern without a slash matches names anywhere; `**` any number of folders, other wildcards one name."""
    parts = ["**", pattern] if "/" not in pattern else pattern.removeprefix("./").split("/")
    out = ""
    for n, part in enumerate(parts):
        last = n == len(parts) - 1
        if part == "**":
            out += ".*" if last else "(?:[^/]+/)*"
            continue
        one = fnmatch.translate(part).removeprefix("(?s:").removesuffix(r")\Z").removesuffix(r")\z")
        out += one.replace(".*?", "[^/]*?").replace(".*", "[^/]*") + ("" if last else "/")
    return re.compile(out, re.DOTALL)
