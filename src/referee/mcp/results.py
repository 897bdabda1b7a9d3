"""What the tools of the server answer, as data; the same is told as text."""

from __future__ import annotations

from typing import Literal

from referee.domain.report import CheckReport, Outcome, RunSummary
from referee.domain.value import Value
from referee.ports import Execution, Restoration

_MOST_FINDINGS = 50
_MOST_TEXT = 20_000  # characters of one stream or diff


class Fixed(Value):
    """How a repair ended. `exit_code` is what the command line would have returned; `run_id` names its record."""

    run_id: str
    solved: bool
    stop_reason: str
    exit_code: int
    explanation: str = ""
    touched_files: tuple[str, ...] = ()
    landed: str = ""
    diff: str = ""
    feedback: str = ""
    notes: tuple[str, ...] = ()
    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    wall_seconds: float = 0.0

    @classmethod
    def of(cls, outcome: Outcome) -> Fixed:
        """The outcome without what only its record needs."""
        r = outcome.report
        return cls(
            run_id=r.run_id, solved=r.solved, stop_reason=r.stop_reason.value, exit_code=r.exit,
            explanation=r.explanation, touched_files=r.touched_files, landed=r.landed.how if r.landed else "",
            diff=cut(outcome.diff), feedback=r.feedback, notes=r.notes, steps=r.steps, tokens=r.tokens,
            cost_usd=float(r.cost_usd), wall_seconds=r.wall_seconds,
        )  # fmt: skip


class Finding(Value):
    """One objection of a check."""

    check: str
    path: str = ""
    line: int | None = None
    message: str = ""


class Checked(Value):
    """What the checks say of the tree as it is; `findings` are the first 50 of `found`."""

    passed: bool
    layers: tuple[str, ...] = ()
    found: int = 0
    findings: tuple[Finding, ...] = ()
    feedback: str = ""

    @classmethod
    def of(cls, report: CheckReport) -> Checked:
        """The report in short."""
        shown = report.findings[:_MOST_FINDINGS]
        return cls(
            passed=report.passed,
            layers=tuple(f"{row.layer.value} {row.check}: {row.state.value}" for row in report.layers),
            found=len(report.findings),
            findings=tuple(Finding(check=f.check, path=f.path, line=f.line, message=f.message) for f in shown),
            feedback=report.feedback,
        )


class Ran(Value):
    """How a command in the sandbox ended; of long output both ends are kept."""

    exit_code: int | None
    killed_by: str | None = None
    stdout: str = ""
    stderr: str = ""
    contacts: tuple[str, ...] = ()
    isolation: str

    @classmethod
    def of(cls, ended: Execution) -> Ran:
        """The execution as text."""
        return cls(
            exit_code=ended.exit_code, killed_by=ended.killed_by, stdout=cut(_text(ended.stdout)),
            stderr=cut(_text(ended.stderr)), contacts=tuple(c.words for c in ended.contacts),
            isolation=ended.isolation.stamp,
        )  # fmt: skip


class RunRow(Value):
    """One run in a list."""

    run_id: str
    status: str
    stop_reason: str = ""
    task: str = ""
    steps: int = 0
    touched_files: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: RunSummary) -> RunRow:
        """The summary in short."""
        reason = row.stop_reason.value if row.stop_reason else ""
        return cls(
            run_id=row.run_id, status=row.status, stop_reason=reason, task=row.task, steps=row.steps,
            touched_files=row.touched_files,
        )  # fmt: skip


class Runs(Value):
    """The newest runs, of `total`."""

    total: int
    runs: tuple[RunRow, ...] = ()


class RolledBack(Value):
    """What a rollback did: `kept` are files that somebody changed since."""

    outcome: Literal["done", "declined"]
    restored: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @classmethod
    def of(cls, done: Restoration) -> RolledBack:
        """The restoration in short."""
        return cls(outcome="done", restored=done.restored, kept=done.kept, failed=tuple(done.failed))


def cut(text: str) -> str:
    """`text`, or both its ends with how much is missing between them."""
    if len(text) <= _MOST_TEXT:
        return text
    half = _MOST_TEXT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
