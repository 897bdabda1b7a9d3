"""A finding: one thing a check, a rule or the judge holds against a proposal."""

from __future__ import annotations

from enum import StrEnum

from referee.domain.value import Value


class FindingKind(StrEnum):
    """What sort of objection a finding is."""

    FAILURE = "failure"  # a check ran and says no
    NOT_RUN = "not_run"  # a check could not say; that blocks too
    UNAUTHORISED = "unauthorised"  # the proposal asked for what it may not touch
    TAMPER = "tamper"  # the code under test tried to influence the judge
    UNAPPLIABLE = "unappliable"  # the proposal does not fit the tree it was made for
    OBJECTION = "objection"  # a model's opinion: it may stop a landing, never allow one


class Frame(Value):
    """One frame of the user's own code in a traceback."""

    path: str
    line: int
    function: str
    source: str = ""
    repeats: int = 1


class Finding(Value):
    """One objection, with all a model needs to act on it and nothing else.

    `id` is the test id or `path:line`; `error` the exception type or rule; `cause` the coarse key that
    tells two root causes apart (line numbers and literals removed); `value` what was observed, normalised
    (addresses, durations and temporary paths removed), so that a changed value counts as progress.
    """

    kind: FindingKind = FindingKind.FAILURE
    check: str
    id: str = ""
    path: str = ""
    line: int = 0
    rule: str = ""
    message: str
    phase: str = ""
    error: str = ""
    expected: str = ""
    actual: str = ""
    cause: str = ""
    value: str = ""
    frames: tuple[Frame, ...] = ()
    detail: tuple[str, ...] = ()
