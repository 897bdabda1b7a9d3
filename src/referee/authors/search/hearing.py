"""What the judge says to trials: the target, what passed before, the examples that no test runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from referee.authors.search.aims import hurried, sample, wider
from referee.authors.search.choice import Survivor, ordered
from referee.authors.search.survey import Tree
from referee.authors.search.trial import Judged, Trial
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import Bench, HeldOut, Spectrum, held_out, screen, spectrum
from referee.kernel.run import Run

_MOST = 12  # survivors that are worth comparing

Screen = Callable[[Run, Bench, Sequence[Patch]], tuple[CheckResult, ...]]
Trace = Callable[[Run, Bench], Spectrum]
Examples = Callable[[Run, Bench, Sequence[Patch]], tuple[HeldOut, ...]]


@dataclass(frozen=True, slots=True)
class Means:
    """What the search asks the judge for; a test may give it other answers."""

    screen: Screen = screen
    trace: Trace = spectrum
    examples: Examples = held_out


@dataclass(frozen=True, slots=True)
class Hearing:
    """Trials on the files of one tree, before the judge."""

    tree: Tree
    means: Means

    def judged(self, run: Run, bench: Bench, trials: Sequence[Trial]) -> list[Judged]:
        """What the target says to each trial; of many slow targets, two first."""
        few = sample(bench)
        if few is None:
            return self._asked(run, bench, trials)
        first = self._asked(run, few, trials)
        left = [j.trial for j in first if j.passed]
        then = {id(j.trial): j for j in self._asked(run, bench, left)} if left else {}
        return [then.get(id(j.trial), j) for j in first]

    def _asked(self, run: Run, bench: Bench, trials: Sequence[Trial]) -> list[Judged]:
        results = self.means.screen(run, hurried(bench), self._patches(run, bench, trials))
        return [Judged(t, r) for t, r in zip(trials, results, strict=True)]

    def confirmed(self, run: Run, bench: Bench, passing: Sequence[Trial]) -> list[Trial]:
        """Those that also keep what passed before: the gate would refuse the others."""
        more = wider(bench)
        if not passing or more is None:
            return list(passing)
        return [j.trial for j in self._asked(run, more, passing) if j.result.state is CheckState.PASS]

    def settled(self, run: Run, bench: Bench, passing: Sequence[Trial]) -> list[Survivor]:
        """What passes, best first, after a look at the examples."""
        if not passing:
            return []
        chosen = sorted(passing, key=lambda t: t.preference)[:_MOST]
        return ordered(chosen, self.means.examples(run, hurried(bench), self._patches(run, bench, chosen)))

    def _patches(self, run: Run, bench: Bench, trials: Sequence[Trial]) -> list[Patch]:
        base = bench.base.tree
        return [t.patch(self.tree.known, lambda path: run.executable(base, path)) for t in trials]
