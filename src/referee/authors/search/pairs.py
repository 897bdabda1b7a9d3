"""Two places at once: an edit that mended part of what fails, together with another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.authors.search.candidate import Candidate
from referee.authors.search.trial import Judged, Trial, progress
from referee.domain.verdict import CheckResult

_PARTIALS, _OTHERS, MOST = 4, 60, 240


class Pairs:
    """Remembers which candidates got further than the unpatched code, and combines them.

    `targets` are the failing test ids; `before` is what they said of the unpatched code.
    """

    def __init__(self, targets: Sequence[str], before: Sequence[CheckResult]) -> None:
        self._targets = frozenset(targets)
        self._start = max((progress(r, self._targets) for r in before), default=(0, 0))
        self._partial: list[tuple[tuple[int, int], Candidate]] = []
        self._judged: list[Candidate] = []
        self._made: set[frozenset[int]] = set()

    def learn(self, judged: Judged) -> None:
        """Take note of a single candidate that failed."""
        if len(judged.trial.parts) != 1:
            return
        candidate = judged.trial.parts[0]
        self._judged.append(candidate)
        reached = progress(judged.result, self._targets)
        # Reaching a later line says something about one test only.
        further = reached > self._start if len(self._targets) == 1 else reached[0] > self._start[0]
        if further and judged.result.killed_by is None:
            self._partial.append((reached, candidate))
            self._partial.sort(key=lambda p: (-p[0][0], -p[0][1], -p[1].score))

    def take(self, count: int) -> tuple[Trial, ...]:
        """The next pairs, at most `count`: partial repairs with each other, then with the likeliest others."""
        taken: list[Trial] = []
        for pair in self._pairs():
            if len(taken) == count or len(self._made) >= MOST:
                break
            key = frozenset(map(id, pair))
            if key not in self._made and not pair[0].overlaps(pair[1]):
                self._made.add(key)
                taken.append(Trial(pair))
        return tuple(taken)

    def _pairs(self) -> Iterator[tuple[Candidate, Candidate]]:
        best = [c for _, c in self._partial[:_PARTIALS]]
        every = [c for _, c in self._partial]
        for first in best:
            yield from ((first, other) for other in every if other is not first)
        others = sorted(self._judged, key=lambda c: -c.score)[:_OTHERS]
        for other in others:
            yield from ((first, other) for first in best if first is not other)
