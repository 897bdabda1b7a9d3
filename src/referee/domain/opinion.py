"""What an evaluator may answer: whether anything speaks against a change that passed every check (E3)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from referee.domain.value import Value
from referee.domain.verdict import CheckResult

Sentence = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Sentences = Annotated[tuple[Sentence, ...], Field(max_length=12)]


class Exhibit(Value):
    """All that an evaluator is shown: the change from `base` to `tree`, and what the checks said before and say now."""

    base: str
    tree: str
    before: tuple[CheckResult, ...] = ()
    after: tuple[CheckResult, ...] = ()


class Opinion(Value):
    """An evaluator's verdict. It gives no score, and nothing in it can make a change pass."""

    passed: bool
    failed_assertions: Sentences
    blocking_issues: Sentences
    must_not_merge: bool
    reason: Annotated[str, StringConstraints(max_length=1000)]

    @property
    def objections(self) -> tuple[str, ...]:
        """What stands against the change, in sentences. An opinion that contradicts itself is an objection."""
        said = (*self.blocking_issues, *self.failed_assertions)
        if said or (self.passed and not self.must_not_merge):
            return said
        return (self.reason.strip() or "the evaluator objects without saying why",)
