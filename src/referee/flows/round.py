"""One round of a repair: one author or several propose, all of it is judged, the best counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from referee.actions.step import ChargeStep
from referee.authors.author import Author
from referee.domain.brief import Brief, Offer
from referee.domain.cost import BudgetView
from referee.domain.errors import Exhausted
from referee.domain.progress import worse
from referee.domain.reason import StopReason
from referee.domain.value import Value
from referee.domain.verdict import Verdict
from referee.flows.attempt import Attempt, Ground, attempt
from referee.flows.evaluate import evaluated
from referee.flows.plan import Ended, Plan, Player, Round
from referee.flows.race import Tried, race
from referee.flows.verdicts import enter
from referee.judge import Bench
from referee.kernel.run import Run
from referee.ports import Landing, Snapshot

AMPLE = 0.5  # below this pressure several candidates at once are worth their price
QUICK_MS = 10_000


class Held(Value):
    """A proposal that passed and that its own author doubts, until something better lands. `kind` is of its player."""

    attempt: Attempt
    round: Round
    kind: str


@dataclass(kw_only=True)
class State:
    """Where a repair stands; everything in it is rebuilt by a replay."""

    plan: Plan
    snapshot: Snapshot
    targets: tuple[str, ...] = ()
    rounds: list[Round] = field(default_factory=list)
    history: list[Verdict] = field(default_factory=list)  # of the player whose turn it is
    last: Attempt | None = None
    held: Held | None = None
    generator: str = ""
    answer: str = ""

    def ended(self, reason: StopReason, *, note: str = "", landing: Landing | None = None) -> Ended:
        """The end of the repair as it stands now."""
        last = self.last or Attempt(verdict=Verdict(author="", proposed=False, passed=False))
        return Ended(
            reason=reason,
            note=note,
            rounds=tuple(self.rounds),
            targets=self.targets,
            snapshot=self.snapshot,
            tree=last.tree,
            patch=last.patch,
            landing=landing,
            judged=sum(r.verdict.judged for r in self.rounds),
            generator=self.generator,
            shown=self.held.round if self.held and reason is StopReason.NEEDS_SIGNATURE else None,
        )


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What all candidates of a round have in common. `tidied` is the round whose proposal a mechanic only tidies."""

    state: State
    bench: Bench
    brief: Brief
    ground: Ground
    tidied: Round | None = None


def rivals(run: Run, player: Player, fixing: bool, bench: Bench, view: BudgetView) -> list[Author]:
    """Who proposes in this round: several at once only while there is budget, and judging is quick."""
    author = player.fixer if fixing else player.generator
    if not player.others:
        return [author]
    # A target that is a command has no time of its own in the bench, only in its failure.
    target_ms = max(bench.target_ms, *(f.duration_ms for f in bench.failures), 0)
    if view.pressure >= AMPLE or target_ms >= QUICK_MS:
        run.note("one candidate at a time: the budget is half spent, or the target check takes 10 seconds or more")
        return [author]
    player.ready(run)
    payable = max(0, view.budget.max_steps - view.spent.steps - 1)
    return [author, *(pair[1] if fixing else pair[0] for pair in player.others[:payable])]


def play_round(run: Run, turn: Turn, authors: list[Author]) -> tuple[Attempt, Offer]:
    """Let the authors propose and have it judged; the best of it counts, all of it is told."""
    contests = [partial(_tried, turn=turn, author=author) for author in authors]
    if len(contests) == 1:
        found: tuple[Tried, ...] = (contests[0](run),)
    else:
        found = race(run, f"round{len(turn.state.rounds) + 1}", contests)
    best = found[-1]
    for other in found[:-1]:
        if not best.attempt.verdict.passed and _ahead(other, best):
            best = other
    for other in (t for t in found if t is not best):
        _entered(run, turn, other.attempt, other.offer)
    return concluded(run, turn, best)


def concluded(run: Run, turn: Turn, best: Tried) -> tuple[Attempt, Offer]:
    """Let the evaluator object to what passed, and enter the verdict."""
    tried, evaluator = best.attempt, turn.state.plan.evaluator
    if tried.verdict.passed and evaluator is not None:
        try:
            tried = evaluated(run, evaluator, turn.bench, tried, turn.brief.pressed)
        except Exhausted:
            _entered(run, turn, tried, best.offer)  # judged and paid for, though nobody gave an opinion
            raise
    _entered(run, turn, tried, best.offer)
    turn.state.history.append(tried.verdict)
    return tried, best.offer


def _tried(run: Run, turn: Turn, author: Author) -> Tried:
    """One author's offer, judged."""
    offer = author.propose(run, turn.brief)
    if turn.tidied is not None and offer.proposed:
        # Who only tidies takes away neither the doubt about a proposal nor what else was found.
        told = {"doubt": turn.tidied.verdict.doubt, "alternatives": turn.tidied.alternatives}
        offer = offer.model_copy(update=told)
    if not offer.paid:
        run.perform(ChargeStep(author=author.name))
    return Tried(offer=offer, attempt=attempt(run, turn.bench, turn.ground, offer, turn.brief.pressed))


def _ahead(one: Tried, other: Tried) -> bool:
    """Whether one failed attempt is a better ground to go on from than another."""
    if bool(one.attempt.tree) != bool(other.attempt.tree):
        return bool(one.attempt.tree)
    return worse(other.attempt.verdict, one.attempt.verdict)


def _entered(run: Run, turn: Turn, tried: Attempt, offer: Offer) -> None:
    """Enter a verdict into the record, with the cause and the author of the proposal that it is about."""
    state, proposal, tidied = turn.state, offer.proposal, turn.tidied if offer.proposed else None
    if _worth_showing(tried, state.last):
        state.last = tried
    summary = proposal.root_cause if proposal else tried.verdict.note
    state.rounds.append(
        Round(
            step=len(state.rounds) + 1,
            verdict=tried.verdict,
            author=tidied.author if tidied else tried.verdict.author,
            alternatives=offer.alternatives,
            summary=tidied.summary if tidied else summary,
            analysis=tidied.analysis if tidied else (proposal.analysis if proposal else ""),
        )
    )
    enter(run, len(state.rounds), tried.verdict, (state.snapshot.tree, tried.tree))


def _worth_showing(tried: Attempt, last: Attempt | None) -> bool:
    """What could be applied is worth more to a reader than a later refusal, and the best more than a step back."""
    if last is None or not last.tree or tried.verdict.passed:
        return True
    return bool(tried.tree) and not worse(tried.verdict, last.verdict)
