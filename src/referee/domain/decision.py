"""What to do next: a pure function of the verdicts so far and of what is left of the budget (A1)."""

from __future__ import annotations

from collections.abc import Sequence

from referee.domain.brief import Strategy
from referee.domain.cost import BudgetView, Cost
from referee.domain.finding import FindingKind
from referee.domain.progress import cycle
from referee.domain.reason import StopReason
from referee.domain.value import Value
from referee.domain.verdict import Verdict


class Land(Value):
    """The last proposal passed everything: put it where the user wants it."""


class Hold(Value):
    """The last proposal passed everything, but its own author doubts it: keep it, and let a person decide."""

    doubt: str


class Repair(Value):
    """Ask again, with what was learned."""

    strategy: Strategy = Strategy.REPAIR


class Switch(Value):
    """This author has nothing more: let the next one try."""

    note: str = ""


class Stop(Value):
    """End the run; the tree stays as it was."""

    reason: StopReason
    note: str = ""


Decision = Land | Hold | Repair | Switch | Stop


def decide(
    history: Sequence[Verdict], budget: BudgetView, *, doubtful: bool = False, patience: bool = True
) -> Decision:
    """The next move after the last verdict of `history` (never empty; one player's, generator and fixer alike).

    Order matters: what passed lands even if it used the last of the budget; what the world did is never
    blamed on the author; then the budget; then lack of progress. `doubtful`: what its author doubts may land too.
    Without `patience` only the budget ends a loop that goes nowhere.
    """
    last = history[-1]
    if last.passed:
        return Hold(doubt=last.doubt) if last.doubt and not doubtful else Land()
    if last.stop is not None:
        return Stop(reason=last.stop, note=last.note)
    if last.exhausted:
        return Switch(note=last.note)
    refused = budget.refusal(Cost(steps=1))
    if refused is not None:
        return Stop(reason=_named(last, refused), note=last.note)
    judged = [v for v in history if v.proposed or v.findings]  # a batch that found nothing is not a failure
    if not patience or not (last.proposed or last.findings) or len(judged) < 2:
        return Repair()
    before = judged[-2]
    if last.killed_by and before.killed_by:
        return Stop(reason=StopReason.SANDBOX_KILLED, note=f"killed twice in a row: {last.killed_by}")
    if period := cycle([v.fingerprint for v in judged]):
        again = "the same failure twice in a row" if period == 1 else f"the same {period} failures came round again"
        return Stop(reason=_named(last, StopReason.NON_PROGRESS), note=again)
    # What was refused before it became a patch has no digest to compare.
    if last.patch_digest and any(v.patch_digest == last.patch_digest for v in judged[:-1]):
        return Stop(reason=StopReason.NON_PROGRESS, note="a proposal that had failed before came again")
    return Repair(strategy=Strategy.REPAIR)


def _named(last: Verdict, otherwise: StopReason) -> StopReason:
    """A run that ends on a target that passes but a suite that got worse says so."""
    regressed = last.layer is not None and last.layer.gate
    blocked = any(f.kind is FindingKind.FAILURE for f in last.findings)
    return StopReason.GATE_REGRESSION if regressed and blocked else otherwise
