"""From a region to its candidates, scored."""

from __future__ import annotations

import ast
import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from referee.authors.search.candidate import Candidate, Splice
from referee.authors.search.ingredients import Ingredients
from referee.authors.search.operators import Family, applicable
from referee.authors.search.regions import FUNCTIONS, Region
from referee.authors.search.site import Site, Suggestion
from referee.authors.search.sites import Walk
from referee.authors.search.source import Source

LATER = 0.86  # each further suggestion of one operator at one node counts this much of the one before
FLOOR = 0.15  # what an operator's prior is worth on a line of no suspicion
_REGION_CAP = 3_000
_UNSAFE_INSIDE = frozenset("\"'\\{}!:\n\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """How suspicious a region is: per line (0 to 1), and as a whole compared with other regions (`factor`)."""

    lines: Mapping[int, float]
    factor: float = 1.0
    uniform: float = 0.0  # the suspicion of every line when lines are not known

    @property
    def highest(self) -> float:
        """The most suspicious line's suspicion."""
        return max(chain(self.lines.values(), (self.uniform,)))

    def of(self, stmt: ast.stmt) -> float:
        """A statement's suspicion: that of its own lines without its body."""
        if isinstance(stmt, FUNCTIONS):
            return 0.6 * self.highest
        body = getattr(stmt, "body", None)
        last = body[0].lineno - 1 if body else stmt.end_lineno or stmt.lineno
        own = (self.lines.get(n, 0.0) for n in range(stmt.lineno, max(last, stmt.lineno) + 1))
        return max(chain(own, (self.uniform,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hot:
    """A region worth searching."""

    region: Region
    heat: Heat
    ingredients: Ingredients
    emphasis: Mapping[Family, float] = field(default_factory=dict)

    @property
    def bound(self) -> float:
        """No candidate of the region scores more than this."""
        return self.heat.factor * (FLOOR + self.heat.highest) * 2.0 * max([1.0, *self.emphasis.values()])


def candidates(hot: Hot) -> list[Candidate]:
    """The region's candidates, best first, at most a few thousand. They may still fail to compile."""
    return heapq.nlargest(_REGION_CAP, _all(hot), key=lambda c: c.score)


def _all(hot: Hot) -> Iterator[Candidate]:
    for site in Walk(hot.region, hot.ingredients).sites():
        suspicion = hot.heat.of(site.stmt)
        if suspicion <= 0:
            continue
        seen: Counter[str] = Counter()
        for op in applicable(type(site.node)):
            scale = op.prior * hot.emphasis.get(op.family, 1.0) * hot.heat.factor * (FLOOR + suspicion)
            for suggestion in op.suggest(site):
                if site.formatted and not _fits_inside(suggestion):
                    continue
                if site.source.narrow and not _ascii(site.source, suggestion):
                    continue
                score = scale * suggestion.weight * LATER ** seen[op.name]
                seen[op.name] += 1
                yield _candidate(site, op.name, suggestion, score)


def _candidate(site: Site, name: str, suggestion: Suggestion, score: float) -> Candidate:
    splices: tuple[Splice, ...] = tuple(sorted(suggestion.splices, key=lambda s: s.start))
    source = site.source
    return Candidate(
        path=source.path,
        function=site.region.name,
        line=min(source.line_at(splices[0].start), site.region.last_line),
        operator=name,
        splices=splices,
        score=score,
    )


def _ascii(source: Source, suggestion: Suggestion) -> bool:
    """Whether the edit neither takes away nor puts in anything but ASCII."""
    return all((source.text[s.start : s.end] + s.text).isascii() for s in suggestion.splices)


def _fits_inside(suggestion: Suggestion) -> bool:
    """Whether the new text may stand in a formatted string of any Python version."""
    return not any(_UNSAFE_INSIDE & set(s.text) for s in suggestion.splices)
