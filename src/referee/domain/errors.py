"""Every failure names who must act: the user, the model, the operator, a person, or us."""

from __future__ import annotations

from referee.domain.finding import Finding
from referee.domain.question import Asking, Question
from referee.domain.reason import StopReason


class RefereeError(Exception):
    """Root of all failures of this package. `exit_code` is what the command line returns."""

    exit_code = 70


class UsageError(RefereeError):
    """The user must act: the message says what was wrong and what to type instead."""

    exit_code = 2


class Busy(UsageError):
    """Another run is at work where this one would have begun: the same asked later may do."""


class WorldFault(RefereeError):
    """The operator must act: no git, no sandbox, a full disk. Never shown to a model as its own fault."""

    exit_code = 69


class Damaged(WorldFault):
    """Entry number `n` of a journal cannot be read: it was changed, or a newer version wrote it."""

    def __init__(self, run_id: str, n: int, why: str) -> None:
        super().__init__(f"entry {n} of run {run_id} cannot be read: {why}; see `referee journal verify {run_id}`")
        self.n = n


class Rejected(RefereeError):
    """The model must act: its request was refused. An outcome with findings; it never ends a run."""

    exit_code = 1

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__("; ".join(f.message for f in findings))
        self.findings = findings


class Exhausted(RefereeError):
    """Nobody must act: the run ends with its stop reason."""

    exit_code = 1

    def __init__(self, reason: StopReason, detail: str = "") -> None:
        super().__init__(detail or reason.value)
        self.reason = reason


class Diverged(RefereeError):
    """We must act: a replay asked for something else than the journal holds."""

    exit_code = 70


class Interrupt(BaseException):
    """Control flow that no `except Exception` of a tool may swallow."""


class Withdrawn(Interrupt):
    """A branch is no longer needed: it asks for nothing more."""


class Cancelled(Interrupt):
    """The person stopped the run (Ctrl-C or SIGTERM)."""


class Unrecorded(Interrupt):
    """A replay has come to the end of what is recorded."""


class Suspended(Interrupt):
    """The run waits for a person: `referee answer` or `referee sign`, then `referee resume`."""

    def __init__(self, question: Question) -> None:
        verb = "sign" if question.kind is Asking.SIGNATURE else "answer"
        said = "" if verb == "sign" else " yes|no" if question.kind is Asking.APPROVAL else " TEXT"
        super().__init__(
            f"{question.summary}; look with `referee questions {question.id}`, "
            f"then `referee {verb} {question.id}{said}` and `referee resume {question.run_id}`"
        )
        self.question = question
