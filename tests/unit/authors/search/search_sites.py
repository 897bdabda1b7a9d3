"""Everything the operators make of a text, without scores."""

from __future__ import annotations

import ast

from referee.authors.search.candidate import Candidate
from referee.authors.search.clues import clues
from referee.authors.search.generate import Heat, Hot, candidates
from referee.authors.search.ingredients import Ingredients, gather
from referee.authors.search.regions import regions
from referee.authors.search.source import Source


def source(text: str, path: str = "m.py") -> Source:
    """The text as a source; it must be valid."""
    found = Source.load(path, text.encode())
    assert found is not None
    return found


def hot(where: Source, tests: str = "", lines: dict[int, float] | None = None) -> list[Hot]:
    """All regions, equally suspicious unless lines are given; `tests` is the text of a failing test module."""
    known = clues([(ast.parse(tests), ())], "", ())
    made = Ingredients(here=gather([where.tree]), tests=known.tests)
    heat = Heat(lines={}, uniform=1.0) if lines is None else Heat(lines=lines)
    return [Hot(region=r, heat=heat, ingredients=made) for r in regions(where)]


def every(where: Source, tests: str = "") -> list[Candidate]:
    """All candidates, compiling or not."""
    return [c for h in hot(where, tests) for c in candidates(h)]


def results(operator: str, text: str, tests: str = "") -> set[str]:
    """The texts that one operator makes of `text`."""
    where = source(text)
    return {c.apply(text) for c in every(where, tests) if c.operator == operator}
