"""The search author: repair without a model, by trying likely small edits against the failing tests."""

from __future__ import annotations

from collections.abc import Sequence

from referee.actions.history import ReadRecent
from referee.actions.step import ChargeStep
from referee.authors.search.aims import with_targets
from referee.authors.search.answer import proposal
from referee.authors.search.choice import Survivor, doubt
from referee.authors.search.evidence import evidence
from referee.authors.search.hearing import Hearing, Means
from referee.authors.search.pairs import Pairs
from referee.authors.search.pool import Pool
from referee.authors.search.survey import Survey, Tree, survey
from referee.authors.search.trial import Judged, Trial
from referee.authors.search.unlike import between
from referee.domain.brief import Brief, Offer
from referee.domain.protection import Protection
from referee.judge import Bench
from referee.kernel.run import Run

BATCH = 64  # candidates judged for one step
CHUNK = 12  # judged together
RIVALS = 12  # judged on after one that passes, to see what else does
BATCH_SECONDS = 30.0  # of judging, added up over the candidates, after which a step ends early
_SHOWN, _TOLD = 5, 20
_CALM = 0.6  # budget pressure above which what passes is offered at once
_COMMITS = 3  # whose lines are a little more suspicious


class SearchAuthor:
    """Judges one batch of candidates per step and offers the best of what passes, with what speaks against it.

    All state follows from the recorded results, so a resumed run that asks again gets the same answers.
    After `max_batches` batches (None: no bound) it has nothing more to offer. A `blind` one has nothing judged and
    offers its candidates one by one as they come.
    """

    name = "search"

    def __init__(
        self,
        bench: Bench,
        *,
        protection: Protection | None = None,
        seed: int = 0,
        max_batches: int | None = None,
        means: Means | None = None,
        blind: bool = False,
    ) -> None:
        self._bench, self._protection = bench, protection or Protection()
        self._seed, self._left = seed, max_batches
        self._means, self._blind = means or Means(), blind
        self._tree: Tree | None = None
        self._survey = Survey(hot=())
        self._pool = Pool(())
        self._pairs = Pairs(bench.targets, bench.failures)
        self._passing: list[Survivor] = []
        self._judged = self._chunks = 0

    def propose(self, run: Run, brief: Brief) -> Offer:
        """One step: offer what passed and was not offered yet, or judge a batch. Raises `Exhausted`."""
        if self._left is not None and self._left <= 0 and not self._passing:
            return self._nothing(0, "the batches granted to the search are used up")
        run.perform(ChargeStep(author=self.name))
        tree = self._look(run, brief)
        if self._blind:
            return self._guess(tree)
        again = self._learn(brief)
        if again and self._passing:
            judged_again = self._judge(run, tree, [s.trial for s in self._passing])
            self._passing = [s for s, j in zip(self._passing, judged_again, strict=True) if j.passed]
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
        traced = self._means.trace(run, bench)
        recent = run.perform(ReadRecent(tree=bench.base.tree, commits=_COMMITS))
        self._survey = survey(self._tree, evidence(traced, recent, bench, brief))
        self._pool = Pool(self._survey.hot, self._seed)
        first = [(h.region.source.path, h.region.name) for h in self._survey.hot[:_TOLD]]
        run.progress(
            "search", {"what": f"looking first in {first[0][1] or first[0][0]}" if first else "", "places": first}
        )
        if self._survey.skipped:
            run.note("the search passes over files that are not valid Python", paths=list(self._survey.skipped))
        return self._tree

    def _learn(self, brief: Brief) -> bool:
        """Tests that the last offer broke join the targets, so that the next offer does not break them again."""
        passed = {t for t, outcome in self._bench.known.outcomes.items() if outcome == "passed"}
        broken = sorted({f.id for f in brief.findings if f.id in passed} - set(self._bench.targets))
        if not broken or brief.last is None:
            return False
        self._bench = with_targets(self._bench, broken)
        return True

    # --- one batch -----------------------------------------------------------------------------------------

    def _batch(self, run: Run, tree: Tree) -> int:
        """Judge chunks until one passes and its rivals are known, or the step is used up; how many were judged."""
        count, seconds, beyond = 0, 0.0, 0
        passing: list[Trial] = []
        hearing = Hearing(tree, self._means)
        if self._left is not None:
            self._left -= 1
        while count < BATCH and seconds < BATCH_SECONDS and beyond < RIVALS:
            chunk = self._chunk(min(CHUNK, BATCH - count))
            if not chunk or (passing and run.view.pressure > _CALM):
                break
            beyond += len(chunk) if passing else 0
            judged = self._judge(run, tree, chunk)
            count += len(judged)
            seconds += sum(j.result.duration_ms for j in judged) / 1000
            passing += hearing.confirmed(run, self._bench, [j.trial for j in judged if j.passed])
            for one in judged:
                self._pairs.learn(one)
        self._passing = hearing.settled(run, self._bench, passing)
        return count

    def _chunk(self, count: int) -> tuple[Trial, ...]:
        """Every third chunk is of pairs while there are any; pairs also fill up what single edits leave."""
        self._chunks += 1
        pairs = self._pairs.take(count) if self._chunks % 3 == 0 else ()
        single = tuple(Trial((c,)) for c in self._pool.take(count - len(pairs)))
        chunk = (*pairs, *single)
        return (*chunk, *self._pairs.take(count - len(chunk))) if len(chunk) < count else chunk

    def _judge(self, run: Run, tree: Tree, trials: Sequence[Trial]) -> list[Judged]:
        judged = Hearing(tree, self._means).judged(run, self._bench, trials)
        self._judged += len(judged)
        passed = sum(j.passed for j in judged)
        last = trials[-1].describe(tree.known)
        run.progress("candidate", {"judged": self._judged, "passed": passed, "last": last})
        return judged

    # --- answers -------------------------------------------------------------------------------------------

    def _offer(self, tree: Tree, judged: int) -> Offer:
        best, *others = self._passing
        self._passing = others
        doubted = doubt(
            best, others, self._survey.thin, lambda a, b: between(a.contents(tree.known), b.contents(tree.known))
        )
        remarks = [f"{self._judged} candidates were judged.", *self._remarks(best, others, doubted)]
        alternatives = tuple(o.trial.describe(tree.known) for o in others[:_SHOWN])
        made = proposal(best.trial, tree.known, self._bench.targets, remarks)
        return Offer(
            author=self.name, proposal=made, judged=judged, paid=True, alternatives=alternatives, doubt=doubted
        )

    def _guess(self, tree: Tree) -> Offer:
        chunk = self._chunk(1)
        if not chunk:
            return self._nothing(0, self._why_empty())
        made = proposal(chunk[0], tree.known, self._bench.targets, ["It was not judged."])
        return Offer(author=self.name, proposal=made, paid=True)

    def _remarks(self, best: Survivor, others: Sequence[Survivor], doubted: str) -> list[str]:
        """What a person should know who reads the patch."""
        kept = len(best.examples.kept) + len(best.examples.gained)
        examples = "1 example" if kept == 1 else f"{kept} examples"
        said = [f"{examples} in the code or its documents hold with it, which no test runs."] if kept else []
        if doubted:
            return [*said, f"It may be overfitted: {doubted}. Read it before you keep it."]
        if others:
            many = "Another edit passes" if len(others) == 1 else f"{len(others)} other edits pass"
            said.append(f"{many} the same tests; this is the smallest and likeliest.")
        return [*said, f"Note that {self._survey.thin}."] if self._survey.thin else said

    def _nothing(self, judged: int, note: str) -> Offer:
        """Nothing was judged or will be, so there is no step left to pay for."""
        return Offer(author=self.name, exhausted=True, note=note, judged=judged, paid=True)

    def _why_empty(self) -> str:
        if not self._survey.hot:
            return "the failing tests reach no file that may be changed and is valid Python"
        return f"all {self._judged} candidates were judged and none passes: this is not a small edit the search knows"
