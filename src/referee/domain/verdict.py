"""Results of checks, and the verdict the judge draws from them (D1, D2)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum

from referee.domain.finding import Finding, FindingKind
from referee.domain.layer import Layer
from referee.domain.reason import StopReason
from referee.domain.value import Value

_OVER = (FindingKind.UNAUTHORISED, FindingKind.TAMPER)


class CheckState(StrEnum):
    """A check passed, failed, or could not say; the last blocks like a failure."""

    PASS = "pass"  # noqa: S105 - the verdict, not a credential
    FAIL = "fail"
    NOT_RUN = "not_run"


class CheckResult(Value):
    """What one check said about one tree.

    `findings` are all that count; those the baseline already had are in `known`, those the user's settings ignore in
    `ignored`. An `optional` check may be unable to run without standing in the way; that is told, and no pass.
    `passed_ids` and `failed_ids` are test ids, empty for other checks.
    """

    check: str
    layer: Layer
    state: CheckState
    findings: tuple[Finding, ...] = ()
    known: tuple[Finding, ...] = ()
    ignored: tuple[Finding, ...] = ()
    optional: bool = False
    passed_ids: tuple[str, ...] = ()
    failed_ids: tuple[str, ...] = ()
    exit_code: int | None = None
    killed_by: str | None = None
    duration_ms: int = 0
    isolation: str = ""  # what ran it and how far that isolates, as in `userns, full`
    note: str = ""
    log: str = ""  # digest of the raw output in the blob store

    @property
    def clear(self) -> bool:
        """Whether it stands in nobody's way: it passed, or could not run and need not."""
        return self.state is CheckState.PASS or (self.state is CheckState.NOT_RUN and self.optional)


class Verdict(Value):
    """The judge's answer to one offer.

    `proposed` is False when the author found nothing to judge; `stop` is set when the world, not the
    author, ends the run; `exhausted` when this author should not be asked again. `doubt` is why the author itself
    thinks that what it proposed may be overfitted; it takes nothing from `passed`. `undone` is what an author did that
    it may not, taken out before the rest was judged.
    """

    author: str
    proposed: bool
    passed: bool
    layer: Layer | None = None
    results: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    fingerprint: str = ""
    patch_digest: str = ""
    touched: tuple[str, ...] = ()
    feedback: str = ""
    exit_code: int | None = None
    killed_by: str | None = None
    duration_ms: int = 0
    isolation: str = ""
    judged: int = 0
    exhausted: bool = False
    stop: StopReason | None = None
    note: str = ""
    doubt: str = ""
    undone: tuple[Finding, ...] = ()

    @property
    def told(self) -> tuple[Finding, ...]:
        """The findings that an author may be told: a model's opinion never reaches one (E3)."""
        return tuple(f for f in self.findings if f.kind is not FindingKind.OBJECTION)

    @property
    def unauthorised(self) -> int:
        """How many things the author tried that it may not, those that were undone before judging among them."""
        return sum(f.kind in _OVER for f in (*self.findings, *self.undone))

    @property
    def overstepped(self) -> bool:
        """Whether what was judged holds something that it may not."""
        return any(f.kind in _OVER for f in self.findings)


def fingerprint(findings: Sequence[Finding]) -> str:
    """The identity of a failure (A4): check ids, error types, normalised place and observed value.

    Two failures that differ only in order, duration, addresses or line numbers have the same fingerprint;
    a changed observed value changes it, and so does one less of several that are alike. No findings, no fingerprint.
    """
    if not findings:
        return ""
    keys = sorted("\0".join((f.kind, f.check, f.id, f.error or f.rule, f.cause, f.value)) for f in findings)
    return hashlib.sha256("\n".join(keys).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def blocking(results: Sequence[CheckResult]) -> tuple[Finding, ...]:
    """Every finding that stands in the way, tampering first. A check that did not run is one of them."""
    found: list[Finding] = []
    for r in results:
        if r.clear:
            continue
        found += r.findings
        if r.state is CheckState.NOT_RUN and not r.findings:
            found.append(Finding(kind=FindingKind.NOT_RUN, check=r.check, message=r.note or "did not run"))
        if r.state is CheckState.FAIL and not r.findings:
            found.append(Finding(check=r.check, message=r.note or f"failed with exit code {r.exit_code}"))
    return tuple(sorted(found, key=lambda f: f.kind is not FindingKind.TAMPER))
