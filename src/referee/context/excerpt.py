"""A file as a model is shown it: whole if it is small, else the functions that matter, saying what is left out."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from referee.context.fence import fenced, plain
from referee.context.imports import parsed
from referee.domain.edits import BOM, is_utf8
from referee.domain.notices import left_out

MARGIN = 20  # lines around a place, where no function encloses it
HEAD = 40  # lines of imports and constants that are shown of any file


def whole(path: str, data: bytes, note: str = "") -> str:
    """All of a file."""
    return f"{_heading(path, data, note)}\n{fenced(readable(data))}"


def partial(path: str, data: bytes, places: Iterable[int], names: Iterable[str], limit: int) -> str:
    """The head of a file and the functions at `places` or with `names`, up to `limit` characters."""
    lines = readable(data).split("\n")
    parts, at = [_heading(path, data, "in part: change it with edits only")], 1
    for first, last in _fitting(lines, _spans(data, lines, set(places), set(names)), limit):
        if first > at:
            parts.append(left_out(f"lines {at}-{first - 1}"))
        parts.append(f"Lines {first}-{last} of {len(lines)}:\n{fenced(chr(10).join(lines[first - 1 : last]))}")
        at = last + 1
    if at <= len(lines):
        parts.append(left_out(f"lines {at}-{len(lines)}"))
    return "\n".join(parts)


def readable(data: bytes) -> str:
    """The text of a file, with plain newlines; bytes that are not UTF-8 are shown as escapes."""
    return data.removeprefix(BOM).decode(errors="backslashreplace").replace("\r\n", "\n")


def _heading(path: str, data: bytes, note: str) -> str:
    notes = [note] if note else []
    if not is_utf8(data):
        notes.append("not UTF-8: other bytes appear as \\xNN and cannot be edited")
    if data and not data.endswith((b"\n", b"\r")):
        notes.append("no newline at its end")
    return f"File {plain(path)}{' (' + '; '.join(notes) + ')' if notes else ''}:"


def _spans(data: bytes, lines: list[str], places: set[int], names: set[str]) -> list[tuple[int, int]]:
    """Line ranges to show, most important first: the head, functions at places, functions with names."""
    tree = parsed(data)
    if tree is None:
        around = [(max(1, p - MARGIN), min(len(lines), p + MARGIN)) for p in sorted(places)]
        return around or [(1, min(len(lines), HEAD))]
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    first_def = min((_start(n) for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)), default=HEAD + 1)
    head = [(1, max(1, min(first_def - 1, HEAD, len(lines))))]
    inner, loose = [], []
    for place in sorted(places):
        enclosing = [f for f in functions if _start(f) <= place <= (f.end_lineno or 0)]
        if enclosing:
            closest = max(enclosing, key=_start)
            inner.append((_start(closest), closest.end_lineno or place))
        else:
            loose.append((max(1, place - MARGIN // 4), min(len(lines), place + MARGIN // 4)))
    named = [(_start(f), f.end_lineno or 0) for f in functions if f.name in names]
    return [*inner, *loose, *head, *named]


def _start(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _fitting(lines: list[str], spans: list[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    """As many of `spans` as fit, joined where they touch, in the file's order."""
    shown: set[int] = set()
    room = limit
    for first, last in spans:
        fresh = [n for n in range(first, min(last, len(lines)) + 1) if n not in shown]
        size = sum(len(lines[n - 1]) + 1 for n in fresh)
        if size > room and shown:
            continue
        shown |= set(fresh)
        room -= size
    runs: list[tuple[int, int]] = []
    for n in sorted(shown):
        if runs and n == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], n)
        else:
            runs.append((n, n))
    return runs
