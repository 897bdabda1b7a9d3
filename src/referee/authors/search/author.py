"""The search author: repair without a model, by trying likely small edits against the failing tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from referee.actions.step import ChargeStep
from referee.authors.search.answer import proposal
from referee.authors.search.pairs import Pairs
from referee.authors.search.pool import Pool
from referee.authors.search.source import Source
from referee.authors.search.survey import Evidence, Survey, Tree, survey
from referee.authors.search.trial import Judged, Trial
from referee.domain.brief import Brief, Offer
from referee.domain.finding import Finding
from referee.domain.patch import Patch
from referee.domain.protection import Protection
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import Bench, Spectrum, screen, spectrum
from referee.kernel.run import Run

BATCH = 64  # candidates judged for one step
CHUNK = 12  # judged together; a chunk with a candidate that passes is the step's last
BATCH_SECONDS = 30.0  # of judging, added up over the candidates, after which a step ends early
_HANGING_SECONDS = 2.0  # a test may take this much longer than the slowest needed before
_QUICK_MS = 8_000  # a suite quicker than this is run for each candidate that passes the target
_SHOWN = 5

Screen = Callable[[Run, Bench, Sequence[Patch]], tuple[CheckResult, ...]]
Trace = Callable[[Run, Bench], Spectrum]


class SearchAuthor:
    """Judges one batch of candidates per step and offers what passes, the smallest first.

    All state follows from the recorded results, so a resumed run that asks again gets the same answers.
    After `max_batches` batches (None: no bound) it has nothing more to offer. `screening` and `tracing` are
    the judge's `screen` and `spectrum` unless a test says otherwise.
    """

    name = "search"

    def __init__(
        self,
        bench: Bench,
        *,
        protection: Protection | None = None,
        seed: int = 0,
        max_batches: int | None = None,
        screening: Screen = screen,
        tracing: Trace = spectrum,
    ) -> None:
        self._bench, self._protection = bench, protection or Protection()
        self._seed, self._left = seed, max_batches
        self._screen, self._trace = screening, tracing
        self._tree: Tree | None = None
        self._survey = Survey(hot=())
        self._pool = Pool(())
        self._pairs = Pairs(bench.targets, bench.failures)
        self._passing: list[Trial] = []
        self._judged = self._chunks = 0

    def propose(self, run: Run, brief: Brief) -> Offer:
        """One step: offer what passed and was not offered yet, or judge a batch. Raises `Exhausted`."""
        if self._left is not None and self._left <= 0 and not self._passing:
            return self._nothing(0, "the batches granted to the search are used up")
        run.perform(ChargeStep(author=self.name))
        tree = self._look(run, brief)
        again = self._learn(brief)
        if again and self._passing:
            self._passing = [j.trial for j in self._judge(run, tree, self._passing) if j.passed]
        judged = 0
        if not self._passing:
            judged = self._batch(run, tree)
        if self._passing:
            return self._offer(tree, judged)
        if judged == 0:
            return self._nothing(judged, self._why_empty())
        spent = self._left is not None and self._left <= 0
        note = f"none of {judged} candidates passes ({self._judged} judged so far)"
        return Offer(author=self.name, judged=judged, note=note, paid=True, exhausted=spent)

    # --- before the first batch ----------------------------------------------------------------------------

    def _look(self, run: Run, brief: Brief) -> Tree:
        """Trace the tests and decide where to search, once."""
        if self._tree is not None:
            return self._tree
        bench, protection = self._bench, self._protection
        self._tree = Tree(
            paths=run.paths(bench.base.tree),
            read=lambda path: run.read(bench.base.tree, path),
            allowed=lambda path: protection.objection(path) is None,
        )
        run.progress("search", {"what": "tracing the tests"})
        self._survey = survey(self._tree, _evidence(self._trace(run, bench), bench, brief))
        self._pool = Pool(self._survey.hot, self._seed)
        if self._survey.skipped:
            run.note("the search passes over files that are not valid Python", paths=list(self._survey.skipped))
        return self._tree

    def _learn(self, brief: Brief) -> bool:
        """Tests that the last offer broke join the targets, so that the next offer does not break them again."""
        passed = {t for t, outcome in self._bench.known.outcomes.items() if outcome == "passed"}
        broken = sorted({f.id for f in brief.findings if f.id in passed} - set(self._bench.targets))
        if not broken or brief.last is None:
            return False
        self._bench = _with_targets(self._bench, broken)
        return True

    # --- one batch -----------------------------------------------------------------------------------------

    def _batch(self, run: Run, tree: Tree) -> int:
        """Judge chunks until one has a candidate that passes or the step is used up; how many were judged."""
        count, seconds = 0, 0.0
        if self._left is not None:
            self._left -= 1
        while count < BATCH and seconds < BATCH_SECONDS and not self._passing:
            chunk = self._chunk(min(CHUNK, BATCH - count))
            if not chunk:
                break
            judged = self._judge(run, tree, chunk)
            count += len(judged)
            seconds += sum(j.result.duration_ms for j in judged) / 1000
            passing = sorted((j.trial for j in judged if j.passed), key=lambda t: t.preference)
            self._passing = self._confirmed(run, tree, passing)
            for one in judged:
                self._pairs.learn(one)
        return count

    def _confirmed(self, run: Run, tree: Tree, passing: list[Trial]) -> list[Trial]:
        """Those that also keep the tests that passed before, where that is cheap: the gate would refuse the others."""
        bench = self._bench
        others = [t for t, o in bench.known.outcomes.items() if o == "passed" and t not in bench.targets]
        if not passing or not others or bench.suite_ms > _QUICK_MS:
            return passing
        wider = _with_targets(bench, others).model_copy(update={"target_ms": max(bench.target_ms, bench.suite_ms)})
        results = self._screened(run, tree, wider, passing)
        return [t for t, r in zip(passing, results, strict=True) if r.state is CheckState.PASS]

    def _chunk(self, count: int) -> tuple[Trial, ...]:
        """Every third chunk is of pairs while there are any; pairs also fill up what single edits leave."""
        self._chunks += 1
        pairs = self._pairs.take(count) if self._chunks % 3 == 0 else ()
        single = tuple(Trial((c,)) for c in self._pool.take(count - len(pairs)))
        chunk = (*pairs, *single)
        return (*chunk, *self._pairs.take(count - len(chunk))) if len(chunk) < count else chunk

    def _judge(self, run: Run, tree: Tree, trials: Sequence[Trial]) -> list[Judged]:
        results = self._screened(run, tree, self._bench, trials)
        judged = [Judged(t, r) for t, r in zip(trials, results, strict=True)]
        self._judged += len(judged)
        last = trials[-1].describe(_sources(tree))
        passed = sum(j.passed for j in judged)
        run.progress("candidate", {"judged": self._judged, "passed": passed, "last": last})
        return judged

    def _screened(self, run: Run, tree: Tree, bench: Bench, trials: Sequence[Trial]) -> tuple[CheckResult, ...]:
        base = bench.base.tree
        patches = [t.patch(_sources(tree), lambda path: run.executable(base, path)) for t in trials]
        return self._screen(run, _hurried(bench), patches)

    # --- answers -------------------------------------------------------------------------------------------

    def _offer(self, tree: Tree, judged: int) -> Offer:
        best, *others = self._passing
        self._passing = others
        sources = _sources(tree)
        remarks = [f"{self._judged} candidates were judged."]
        if others:
            remarks.append(
                f"{len(others)} other edits pass the target too: it does not tell them apart, so this one may be "
                "overfitted; read it before you keep it."
            )
        elif self._survey.thin:
            remarks.append(f"It may be overfitted: {self._survey.thin}.")
        alternatives = tuple(t.describe(sources) for t in others[:_SHOWN])
        made = proposal(best, sources, self._bench.targets, remarks)
        return Offer(author=self.name, proposal=made, judged=judged, paid=True, alternatives=alternatives)

    def _nothing(self, judged: int, note: str) -> Offer:
        """Nothing was judged or will be, so there is no step left to pay for."""
        return Offer(author=self.name, exhausted=True, note=note, judged=judged, paid=True)

    def _why_empty(self) -> str:
        if not self._survey.hot:
            return "the failing tests reach no file that may be changed and is valid Python"
        return f"all {self._judged} candidates were judged and none passes: this is not a small edit the search knows"


def _sources(tree: Tree) -> Callable[[str], Source]:
    def source(path: str) -> Source:
        found = tree.source(path)
        assert found is not None  # candidates come from files that were parsed
        return found

    return source


def _with_targets(bench: Bench, more: Sequence[str]) -> Bench:
    """The bench with more tests that must pass."""
    wanted = bench.expected.model_copy(update={"ids": (*bench.expected.ids, *more)})
    return bench.model_copy(update={"targets": (*bench.targets, *more), "expected": wanted})


def _hurried(bench: Bench) -> Bench:
    """Candidates that hang are common: they get little more time than the tests are known to need."""
    slowest = max(bench.target_ms, 1) / 1000
    return bench.model_copy(update={"test_seconds": min(bench.test_seconds, slowest + _HANGING_SECONDS)})


def _evidence(traced: Spectrum, bench: Bench, brief: Brief) -> Evidence:
    targets = frozenset(bench.targets)
    lines = {t.id: frozenset((p, n) for p, found in t.lines.items() for n in found) for t in traced.tests}
    failures: list[Finding] = [f for r in bench.failures for f in r.findings] or list(brief.findings)
    return Evidence(
        failing=tuple(lines[t.id] for t in traced.tests if t.id in targets and lines[t.id]),
        passing=tuple(lines[t.id] for t in traced.tests if t.outcome == "passed" and lines[t.id]),
        targets=bench.targets,
        findings=tuple(failures),
        text=brief.task.text,
    )
