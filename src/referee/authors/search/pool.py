"""The candidates of a run, best first, made only as they are needed."""

from __future__ import annotations

import heapq
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from referee.authors.search.candidate import Candidate, splice
from referee.authors.search.generate import Hot, candidates
from referee.authors.search.regions import Region

SAME_LINE = 0.985  # each candidate already taken from a line makes its next ones this much less urgent
SAME_OPERATOR = 0.985  # and each already taken of an operator
LEAST = 0.5  # neither makes more of a difference than this
CAP = 40_000


class _Waiting(NamedTuple):
    """A candidate in the heap: `urgency` is its negative score, discounted by `discount`."""

    urgency: float
    tie: int
    serial: int
    discount: float
    candidate: Candidate
    region: Region


class Pool:
    """Takes from the most promising regions first; a region is read only when it could supply the next one.

    Candidates that do not compile, that mean the same as the original or as an earlier one, are passed over.
    The order depends on the regions and on `seed` alone; the seed decides between equal scores.
    """

    def __init__(self, hot: Sequence[Hot], seed: int = 0, cap: int = CAP) -> None:
        self._closed = sorted(hot, key=lambda h: h.bound)
        self._seed, self._cap = seed, cap
        self._heap: list[_Waiting] = []
        self._met: dict[tuple[str, int], set[object]] = {}
        self._lines: Counter[tuple[str, int]] = Counter()
        self._operators: Counter[str] = Counter()
        self.generated = 0

    def take(self, count: int) -> tuple[Candidate, ...]:
        """The next candidates, at most `count`; fewer only when there are no more."""
        found: list[Candidate] = []
        while len(found) < count and (best := self._next()) is not None:
            if self._new(best):
                self._lines[best.candidate.path, best.candidate.line] += 1
                self._operators[best.candidate.operator] += 1
                found.append(best.candidate)
        return tuple(found)

    def _next(self) -> _Waiting | None:
        while True:
            self._open()
            if not self._heap:
                return None
            best = heapq.heappop(self._heap)
            discount = self._discount(best.candidate)
            if discount == best.discount:
                return best
            urgency = -best.candidate.score * discount
            heapq.heappush(self._heap, best._replace(urgency=urgency, discount=discount))

    def _discount(self, candidate: Candidate) -> float:
        """Less than 1 for lines and operators that had their turn, so that a batch is not spent on one of them."""
        lines = self._lines[candidate.path, candidate.line]
        operators = self._operators[candidate.operator]
        return max(LEAST, SAME_LINE**lines) * max(LEAST, SAME_OPERATOR**operators)

    def _open(self) -> None:
        """Read regions until none that is closed could beat the best candidate there is."""
        while self._closed and self.generated < self._cap:
            if self._heap and -self._heap[0].urgency >= self._closed[-1].bound:
                return
            hot = self._closed.pop()
            for c in candidates(hot):
                self.generated += 1
                tie = zlib.crc32(repr((c.path, c.splices)).encode("utf-8", "surrogatepass"), self._seed)
                discount = self._discount(c)
                waiting = _Waiting(-c.score * discount, tie, self.generated, discount, c, hot.region)
                heapq.heappush(self._heap, waiting)

    def _new(self, waiting: _Waiting) -> bool:
        region = waiting.region
        key = (region.source.path, region.start)
        if key not in self._met:
            self._met[key] = {region.meaning(region.text)}
        meaning = region.meaning(splice(region.text, waiting.candidate.splices, region.start))
        if meaning is None or meaning in self._met[key]:
            return False
        self._met[key].add(meaning)
        return True
