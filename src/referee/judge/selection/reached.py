"""What each test was seen to reach on some tree."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterable, Mapping

from pydantic import ValidationError

from referee.domain.value import Value
from referee.judge.selection.shape import Shape, first_line, functions, parsed
from referee.judge.stream import Report

READ, MODULE = 0, -1  # as the recorder inside says it
STARTS, UNSURE = "/starts", "/unsure"
IMPORTED = ""  # in place of a test's id


class Reached(Value):
    """A map of one tree. `files` are digests of everything in it, `shapes` of what is Python.

    `tests` gives the numbers of the `places` that each test reached, `imported` those reached by imports, whenever
    they happened. `always` are tests of which it is not known what they reach, `plugins` files that pytest loads.
    """

    tree: str
    files: Mapping[str, str]
    shapes: Mapping[str, Shape]
    places: tuple[tuple[str, str], ...] = ()
    tests: Mapping[str, tuple[int, ...]] = {}
    imported: tuple[int, ...] = ()
    always: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()

    def to_text(self) -> str:
        """Packed, for the shelf."""
        return base64.b85encode(zlib.compress(self.model_dump_json().encode("utf-8", "backslashreplace"))).decode()


def from_text(text: str) -> Reached | None:
    """Unpacked; None if it is damaged, which is as good as none."""
    try:
        return Reached.model_validate_json(zlib.decompress(base64.b85decode(text)))
    except (ValueError, zlib.error, ValidationError):
        return None


def digest(data: bytes) -> str:
    """Of a file's content."""
    return hashlib.sha256(data).hexdigest()[:20]


def reached_in(report: Report, sources: Mapping[str, bytes]) -> dict[str, frozenset[tuple[str, str]]]:
    """By test, the places it reached; what imports reached under `IMPORTED`.

    A test during which a module was imported may have reached anything through that import: all of it counts as
    imported too, since the next test finds the module there.
    """
    names = {path: _lines(source) for path, source in sources.items()}
    found: dict[str, set[tuple[str, str]]] = {IMPORTED: set()}
    for test, lines in report.lines:
        places = {(p, "" if n == READ else _at(names.get(p, ()), n)) for p, ns in lines.items() for n in ns if n >= 0}
        found.setdefault(test, set()).update(places)
        if test and any(MODULE in ns for ns in lines.values()):
            found[IMPORTED] |= {p for p in places if not p[0].startswith("/")}
    return {test: frozenset(places) for test, places in found.items()}


def packed(places: Mapping[str, Iterable[tuple[str, str]]], of: Reached) -> Reached:
    """The map with these places instead; tests that say themselves that they are unsure are always meant."""
    table: dict[tuple[str, str], int] = {}
    numbers = {
        test: tuple(sorted(table.setdefault(p, len(table)) for p in reached)) for test, reached in places.items()
    }
    unknown = {table[p] for p in ((STARTS, ""), (UNSURE, "")) if p in table}
    imported = numbers.pop(IMPORTED, ())
    always = {*of.always, *(t for t, ns in numbers.items() if unknown & {*ns})} & numbers.keys()
    update = {"places": tuple(table), "tests": numbers, "imported": imported, "always": tuple(sorted(always))}
    return of.model_copy(update=update)


def unpacked(reached: Reached) -> dict[str, frozenset[tuple[str, str]]]:
    """The places by test, and those of imports."""
    places = reached.places
    found = {test: frozenset(places[n] for n in numbers) for test, numbers in reached.tests.items()}
    return {IMPORTED: frozenset(places[n] for n in reached.imported), **found}


def _lines(source: bytes) -> tuple[tuple[int, int, str], ...]:
    tree = parsed(source)
    if tree is None:
        return ()
    return tuple((first_line(node), node.end_lineno or node.lineno, name) for name, node in functions(tree))


def _at(known: Iterable[tuple[int, int, str]], line: int) -> str:
    """The outermost function a line is in. Outside of all, as a lambda of the module is, `<module>`."""
    return next((name for first, last, name in known if first <= line <= last), "<module>")
