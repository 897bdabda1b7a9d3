"""What a trial leaves: its report, its result, and what its models said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.api.usage import replies
from referee.config import load
from referee.domain.report import Report
from referee.evals.trial import Result
from referee.wiring import Desk


@dataclass(frozen=True, kw_only=True)
class Played:
    """A trial that was played to its end; a refused one has no report."""

    result: Result
    report: Report | None = None


def replies_of(repo: str, run_id: str) -> Sequence[str]:
    """Which model gave each answer of a run, in order."""
    with Desk(repo, load(repo)) as desk:
        return [reply.model for reply in replies(desk.store, run_id)]
