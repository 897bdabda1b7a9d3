"""The tool that knows what code defines: symbols."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from referee.domain.observation import Observation, failed
from referee.domain.risk import Risk
from referee.domain.symbols import Symbol, definitions, uses
from referee.tools.room import Room
from referee.tools.tool import tool
from referee.tools.words import counted

SHOWN_ROWS = 200
MOST_FILES = 3_000
Row = tuple[tuple[int, str, int], str]  # how well it fits and where it is, then the words


@tool("search", Risk.READ)
def symbols(
    room: Room,
    path: Annotated[str, Field(description="a .py file for its outline, or where to look")] = "",
    query: Annotated[str, Field(max_length=200, description="a name, such as Order.total")] = "",
) -> Observation:
    """Outline a Python file, or find where a name is defined and used, best match first.

    Not for other languages or plain text: use grep.
    """
    place = room.located(path) if path else "."
    if not query:
        return _outline(room, place)
    prefix = "" if place == "." else f"{place}/"
    files = [p for p in room.paths() if p.endswith(".py") and (p == place or p.startswith(prefix))]
    if len(files) > MOST_FILES:
        return failed(f"{place} has {len(files)} Python files, {MOST_FILES} at most are looked at; give a path")
    found, unread = list[Row](), list[str]()
    last = query.rpartition(".")[2]
    for file in files:
        text = (room.read(file) or b"").decode("utf-8", "replace")
        if last.casefold() in text.casefold():
            try:
                found += _matches(file, text, query)
            except ValueError:
                unread.append(file)
    rows = [words for _, words in sorted(found)]
    defined = sum(rank < _USED for (rank, _, _), _ in found)
    meta = [f"{counted(defined, 'definition')}, {counted(len(rows) - defined, 'use')} of {query} in {place}"]
    meta += [f"no valid Python, left out: {', '.join(unread[:5])}"] if unread else []
    return _paged(room, rows, meta)


_USED = 4


def _outline(room: Room, place: str) -> Observation:
    data = room.read(place)
    if data is None or not place.endswith(".py"):
        return failed("give the path of one .py file for its outline, or a query")
    try:
        found = definitions(data.decode("utf-8", "replace"))
    except ValueError as wrong:
        return failed(f"{place} is no valid Python, {wrong}")
    rows = [f"{s.line}-{s.end}\t{'  ' * s.depth}{s.words}" for s in found]
    return _paged(room, rows, [f"{place}: {counted(len(rows), 'definition')}"])


def _matches(file: str, text: str, query: str) -> Iterator[Row]:
    defined = set[int]()
    for symbol in definitions(text):
        rank = _rank(symbol, query)
        if rank is not None:
            defined.add(symbol.line)
            yield (rank, file, symbol.line), f"{file}:{symbol.line}-{symbol.end}: {symbol.words}  [{symbol.name}]"
    lines = text.splitlines()
    for line in uses(text, query.rpartition(".")[2]):
        if line not in defined:
            yield (_USED, file, line), f"{file}:{line}: {lines[line - 1].strip()[:160]}"


def _rank(symbol: Symbol, query: str) -> int | None:
    """0 for the very name, 1 for its end, 2 for its beginning, 3 for a part of it in any case; None if it is not."""
    name, last = symbol.name, symbol.name.rpartition(".")[2]
    if query in (name, last):
        return 0
    if name.endswith(f".{query}"):
        return 1
    if last.startswith(query):
        return 2
    return 3 if query.casefold() in last.casefold() else None


def _paged(room: Room, rows: list[str], meta: list[str]) -> Observation:
    kept = ""
    if len(rows) > SHOWN_ROWS:
        kept = room.run.put("\n".join(rows).encode())
        meta.append(f"the first {SHOWN_ROWS} rows; all in {room.next_output}")
    return Observation(text="\n".join([*rows[:SHOWN_ROWS], f"[{'; '.join(meta)}]"]), kept=kept)
