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

READ, BY = 0, "/by/"  # as the recorder inside says it
STARTS, UNSURE = "/starts", "/unsure"
COLLECTED = ""  # in place of a test's id: reached while tests were collected; BY and a module: while it was imported


class Reached(Value):
    """A map of one tree. `files` are digests of everything in it, `shapes` of what is Python.

    `tests` gives the numbers of the `places` that each test reached, `others` those reached while tests were collected
    and, whenever it happened, while each module was imported. `always` are tests of which it is not known what they
    reach, `plugins` files that pytest loads.
    """

    tree: str
    files: Mapping[str, str]
    shapes: Mapping[str, Shape]
    places: tuple[tuple[str, str], ...] = ()
    tests: Mapping[str, tuple[int, ...]] = {}
    others: Mapping[str, tuple[int, ...]] = {}
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
    """By test, the places it reached; under `COLLECTED` and for each module (`BY` and its path) what others did."""
    names = {path: _lines(source) for path, source in sources.items()}
    found: dict[str, set[tuple[str, str]]] = {COLLECTED: set()}
    for test, lines in report.lines:
        found.setdefault(test, set())
        for told, numbers in lines.items():
            module, _, path = told.rpartition("\0")
            places = {(path, "" if n == READ else _at(names.get(path, ()), n)) for n in numbers}
            found.setdefault(module or test, set()).update(places)
    return {who: frozenset(places) for who, places in found.items()}


def packed(places: Mapping[str, Iterable[tuple[str, str]]], of: Reached) -> Reached:
    """The map with these places instead; tests that say themselves that they are unsure are always meant."""
    table: dict[tuple[str, str], int] = {}
    numbers = {who: tuple(sorted(table.setdefault(p, len(table)) for p in reached)) for who, reached in places.items()}
    unknown = {table[p] for p in ((STARTS, ""), (UNSURE, "")) if p in table}
    others = {who: numbers.pop(who) for who in [*numbers] if not is_test(who)}
    always = {*of.always, *(t for t, ns in numbers.items() if unknown & {*ns})} & numbers.keys()
    update = {"places": tuple(table), "tests": numbers, "others": others, "always": tuple(sorted(always))}
    return of.model_copy(update=update)


def unpacked(reached: Reached) -> dict[str, frozenset[tuple[str, str]]]:
    """The places by test, and those reached otherwise."""
    places = reached.places
    both = {**reached.others, **reached.tests}
    return {who: frozenset(places[n] for n in numbers) for who, numbers in both.items()}


def is_test(who: str) -> bool:
    """Whether it is a test that reached something, and not collection or an import."""
    return who != COLLECTED and not who.startswith(BY)


def _lines(source: bytes) -> tuple[tuple[int, int, str], ...]:
    tree = parsed(source)
    if tree is None:
        return ()
    return tuple((first_line(node), node.end_lineno or node.lineno, name) for name, node in functions(tree))


def _at(known: Iterable[tuple[int, int, str]], line: int) -> str:
    """The outermost function a line is in. Outside of all, as a lambda of the module is, `<module>`."""
    return next((name for first, last, name in known if first <= line <= last), "<module>")
