"""Which of several edits that pass is offered, and whether the search itself doubts it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from referee.authors.search.trial import SUSPECT, Trial
from referee.authors.search.unlike import Unlike
from referee.judge import HeldOut

Differ = Callable[[Trial, Trial], "Unlike | None"]
NEAR = 0.5  # a rival this much as likely as the best one counts


@dataclass(frozen=True, slots=True)
class Survivor:
    """A trial that passes the target and what passed before, and what the examples in code and documents say to it."""

    trial: Trial
    examples: HeldOut = field(default_factory=HeldOut)

    @property
    def order(self) -> tuple[int, int, object]:
        """Sorts survivors: examples broken, examples mended, then the smaller and likelier edit."""
        return len(self.examples.lost), -len(self.examples.gained), self.trial.preference


def ordered(trials: Sequence[Trial], examples: Sequence[HeldOut]) -> list[Survivor]:
    """The survivors, best first. `examples` are of the trials in their order; none at all if nobody looked."""
    looked = examples or [HeldOut()] * len(trials)
    return sorted((Survivor(t, e) for t, e in zip(trials, looked, strict=True)), key=lambda s: s.order)


def doubt(best: Survivor, others: Sequence[Survivor], thin: str, differ: Differ) -> str:
    """Why the best one may fit the tests only; empty if nothing says so.

    `thin` says why the tests say little, if they do. Another wording of the same line is no rival, and what is much
    less likely neither; but where a change of another place does as well, the tests do not say where the fault is, and
    where one of the same line does as well and means something else, they do not say what is right.
    """
    if best.examples.lost:
        return f"it breaks an example in the code or its documents ({best.examples.lost[0]})"
    if _takes_away(best.trial) and (thin or others):
        return f"it takes behaviour away, which tests seldom notice, and {thin or 'other edits pass as well'}"
    if thin and len(best.trial.parts) > 1:
        return f"it changes two places, and {thin}"
    likely = [o for o in others if _likely(best, o)]
    rivals = [o for o in likely if _elsewhere(best, o)]
    if rivals:
        many = f"{len(rivals)} other edits in other places pass"
        count = "another edit in another place passes" if len(rivals) == 1 else many
        return f"{count} the same tests, which do not tell them apart"
    found = [u for o in likely if (u := differ(best.trial, o.trial)) is not None]
    if not found:
        return ""
    where = next((f" where {u.where}, which no test asks" for u in found if u.where), "")
    if len(found) == 1:
        return f"another edit of the same line passes the same tests and does something else{where}"
    return f"{len(found)} other edits of the same line pass the same tests and do something else{where}"


def _takes_away(trial: Trial) -> bool:
    return any(p.operator in SUSPECT for p in trial.parts)


def _likely(best: Survivor, other: Survivor) -> bool:
    if len(other.trial.parts) > len(best.trial.parts) or _takes_away(other.trial) or other.examples.lost:
        return False
    if best.examples.gained and not other.examples.gained:
        return False
    return other.trial.score >= NEAR * best.trial.score


def _elsewhere(best: Survivor, other: Survivor) -> bool:
    places = {(p.path, p.line) for p in best.trial.parts}
    return any((p.path, p.line) not in places for p in other.trial.parts)
