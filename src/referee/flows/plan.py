"""What a repair is given, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from referee.authors.author import Author
from referee.authors.evaluator import Evaluator
from referee.domain.metrics import Metrics
from referee.domain.observation import Presented
from referee.domain.parts import ALL, Parts
from referee.domain.patch import Patch
from referee.domain.protection import Protection
from referee.domain.reason import StopReason
from referee.domain.task import Task
from referee.domain.value import Value
from referee.domain.verdict import Verdict
from referee.judge import Bench
from referee.kernel.run import Run
from referee.ports import Base, Landing, Snapshot


def _nothing(run: Run) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Player:
    """Who answers first, and who mends what was judged and failed; often the same author.

    `kind` is `mechanical`, `search`, `model`, `agent` or `command`. An incremental player builds on its last attempt;
    the others propose for the unmodified tree each time. `others` are more of the same kind, to propose at the same
    time; `ready` is called before they do, for what all of them need once. `mechanic` mends what only a linter objects
    to.
    """

    kind: str
    generator: Author
    fixer: Author
    incremental: bool = True
    others: tuple[tuple[Author, Author], ...] = ()
    ready: Callable[[Run], object] = _nothing
    mechanic: Author | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A repair, ready to run. `prepare` checks the judge before anybody plays (D4).

    `place` is where a passing tree goes: `tree`, `commit`, `branch:NAME`, or `none` of the repository's. With
    `doubtful` it goes there even if its author says that it may be overfitted. `evaluator` may object to what
    passed. `parts` are those of the shell that are on.
    """

    task: Task
    protection: Protection
    prepare: Callable[[Run, Base], Bench]
    players: Callable[[Bench], Sequence[Player]]
    place: str = "tree"
    doubtful: bool = False
    evaluator: Evaluator | None = None
    parts: Parts = ALL


class Round(Value):
    """One step as the report shows it. `author` is whose proposal it is about, also when another only tidied it."""

    step: int
    verdict: Verdict
    author: str
    alternatives: tuple[str, ...] = ()
    summary: str = ""
    analysis: str = ""


class Ended(Value):
    """How a repair ended. `patch` is what passed, or the last proposal that could be applied.

    `shown` is the round that this proposal is from, where it is not the last. `answer` and `metrics` are an agent's.
    """

    reason: StopReason
    note: str = ""
    rounds: tuple[Round, ...] = ()
    targets: tuple[str, ...] = ()
    snapshot: Snapshot | None = None
    tree: str = ""
    patch: Patch = Patch()
    landing: Landing | None = None
    judged: int = 0
    generator: str = ""
    shown: Round | None = None
    answer: str = ""
    metrics: Metrics | None = None
    presented: tuple[Presented, ...] = ()

    @property
    def solved(self) -> bool:
        """Whether a proposal passed everything and is where the user wanted it."""
        return self.reason is StopReason.SOLVED
