"""Documentation from the source: made, compared with what is committed, examined. No model, nothing imported."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping

from referee.adapters.reference import read
from referee.api.recorder import write_whole
from referee.config import root_of
from referee.domain.documented import Reference
from referee.domain.errors import UsageError
from referee.render.reference import MADE_BY, pages, whole


def docs(source: str = ".", repo: str = ".") -> Reference:
    """The public interface of the modules in `source`. Raises `UsageError` if there are none."""
    return read(source, root_of(repo))


def write_docs(reference: Reference, out: str) -> tuple[str, ...]:
    """Write the pages that differ from what is there: a folder of pages, or one `.md` or `.json` file.

    Raises `UsageError` before it would replace a page that `referee docs` has not made.
    """
    changed = {p: text for p, text in _files(reference, out).items() if _there(p) != text}
    for path in changed:
        there = _there(path)
        if there is not None and path.endswith(".md") and not there.startswith(MADE_BY):
            raise UsageError(f"{path} was not made by `referee docs` and is not overwritten; give --out another place")
    for path, text in changed.items():
        folder = os.path.dirname(os.path.abspath(path))
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as wrong:
            raise UsageError(f"--out {out}: {folder} cannot be made: {wrong.strerror}") from wrong
        write_whole(path, text.encode())
    return tuple(changed)


def stale(reference: Reference, committed: str) -> Mapping[str, str]:
    """By page, a diff from what is committed to what the source says now; empty if they agree.

    Raises `UsageError` if there is nothing to compare with.
    """
    if not os.path.exists(committed):
        raise UsageError(f"there is no {committed} to check; make it with `referee docs --out {committed}`")
    files = _files(reference, committed)
    found = {}
    for path, text in files.items():
        before = _there(path)
        if before != text:
            found[path] = _diff(before or "", text, path)
    for path in _left_over(committed, files):
        found[path] = _diff(_there(path) or "", "", path)
    return found


def document(reference: Reference) -> str:
    """The list that `docs --json` prints."""
    return json.dumps([thing.row() for thing in reference.things], ensure_ascii=False) + "\n"


def _files(reference: Reference, place: str) -> dict[str, str]:
    if place.endswith(".json"):
        return {place: document(reference)}
    if place.endswith(".md"):
        return {place: whole(reference)}
    if os.path.isfile(place):
        raise UsageError(f"{place} is a file; name a folder, or a file that ends with .md or .json")
    return {os.path.join(place, name): text for name, text in pages(reference).items()}


def _left_over(place: str, files: Mapping[str, str]) -> list[str]:
    """Pages of modules that are gone."""
    if not os.path.isdir(place):
        return []
    pages_there = sorted(os.path.join(place, n) for n in os.listdir(place) if n.endswith(".md"))
    return [p for p in pages_there if p not in files and (_there(p) or "").startswith(MADE_BY)]


def _there(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as wrong:
        raise UsageError(f"{path} cannot be read: {wrong.strerror}") from wrong


def _diff(before: str, after: str, path: str) -> str:
    rows = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
    return "\n".join(rows) + "\n"
