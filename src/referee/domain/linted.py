"""What linting a repository came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from referee.domain.reason import StopReason
from referee.domain.report import CheckFinding, Document, exit_code, told
from referee.domain.verdict import Verdict, blocking


class LintReport(Document):
    """`fixed` are the files that the fixers change, `diff` how; `left` is what only an author can mend.

    `landed` says that the files are changed; then `run_id` is what `referee rollback` takes. `explanation` says why
    it ended, where there is something to say.
    """

    schema_name: Literal["referee.lint/1"] = Field(default="referee.lint/1", alias="schema")
    clean: bool
    fixed: tuple[str, ...] = ()
    left: tuple[CheckFinding, ...] = ()
    diff: str = ""
    landed: bool = False
    run_id: str = ""
    stop_reason: StopReason | None = None
    explanation: str = ""

    @property
    def passed(self) -> bool:
        """Whether the files as they are now leave nothing to mend."""
        return self.clean and (self.landed or not self.fixed)

    @property
    def exit(self) -> int:
        """The exit code of the command line: 1 where something is left to mend."""
        return 0 if self.passed else exit_code(self.stop_reason or StopReason.NON_PROGRESS) or 1


def lint_report(said: Sequence[Verdict], diff: str) -> LintReport:
    """The report on the one verdict there is, or on none if the time ended before."""
    if not said:
        return LintReport(clean=False, diff=diff)
    verdict = said[-1]
    left = tuple(told(f) for f in blocking(verdict.results))
    return LintReport(clean=verdict.passed, fixed=verdict.touched, left=left, diff=diff)
