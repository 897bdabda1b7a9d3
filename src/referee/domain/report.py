"""What a run and a check tell afterwards: `referee.report/1` and `referee.check/1`. Additive changes only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PlainSerializer, field_serializer

from referee.domain.cost import Budget, Cost
from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.metrics import Metrics
from referee.domain.observation import Presented
from referee.domain.reason import StopReason
from referee.domain.value import Value
from referee.domain.verdict import CheckResult, CheckState, Verdict, fingerprint

Usd = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]
"""US dollars: exact in here, a plain number in JSON."""

_EXITS = {
    StopReason.SOLVED: 0,
    StopReason.NEEDS_SIGNATURE: 4,
    StopReason.WORLD_FAULT: 69,
    StopReason.HUMAN_ABORT: 130,
}


def exit_code(reason: StopReason) -> int:
    """The exit code of the command line for a run that ended like this."""
    return _EXITS.get(reason, 1)


class Document(Value):
    """A value that travels as JSON under a schema's name; `schema` itself is a name pydantic has taken."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)


class Setting(Value):
    """One setting of a run and where it came from (case C17)."""

    key: str
    value: Any
    origin: str


class IsolationStamp(Value):
    """Which sandbox ran the commands, and whether it isolated `full`, `partial` or `none`."""

    backend: str
    level: str


class TokenUse(Value):
    """Tokens of all model calls that ended, in disjoint buckets; `reasoning` is part of `output`."""

    calls: int = 0
    fresh_input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def input(self) -> int:
        """All that was read, from a cache or not."""
        return self.fresh_input + self.cache_read + self.cache_write

    @property
    def hit_rate(self) -> float:
        """The share of the input that came from a provider's cache, 0 to 1."""
        return self.cache_read / self.input if self.input else 0.0


class Landed(Value):
    """Where the result went: `tree`, `commit`, `branch:NAME`, `patch:FILE`, `pr`; `revision` if one was made."""

    how: str
    revision: str | None = None


class Iteration(Value):
    """One step: one offer of an author and what the judge said to it. Durations in milliseconds."""

    step: int
    author: str
    layer: Layer | None = None
    exit_code: int | None = None
    killed_by: str | None = None
    failed: tuple[str, ...] = ()
    fingerprint: str = ""
    feedback_chars: int = 0
    duration_ms: int = 0
    touched: tuple[str, ...] = ()
    passed: bool = False
    proposed: bool = True
    candidates_judged: int = 0
    unauthorised: int = 0
    isolation: str = ""
    note: str = ""


def iteration(step: int, verdict: Verdict) -> Iteration:
    """The row of a report for one verdict."""
    failed = dict.fromkeys(f.id or f.check for f in verdict.findings)
    return Iteration(
        step=step,
        author=verdict.author,
        layer=verdict.layer,
        exit_code=verdict.exit_code,
        killed_by=verdict.killed_by,
        failed=tuple(failed),
        fingerprint=verdict.fingerprint,
        feedback_chars=len(verdict.feedback),
        duration_ms=verdict.duration_ms,
        touched=verdict.touched,
        passed=verdict.passed,
        proposed=verdict.proposed,
        candidates_judged=verdict.judged,
        unauthorised=verdict.unauthorised,
        isolation=verdict.isolation,
        note=verdict.note,
    )


class Report(Document):
    """Everything about one run, for machines; Markdown and HTML are made from it.

    Times of day are ISO 8601 in UTC. `model_cost_usd` is what models cost, `tool_seconds` what checks and
    commands took (A6). `pressure` is the worst axis of the budget at the end, 0 to 1. `explanation` says in a
    sentence what was wrong, `analysis` what the author itself says of its last proposal; `alternatives` are
    other patches that passed as well, `answer` and `metrics` what an agent said at its end and how it used its tools,
    `presented` what it showed meanwhile,
    and `doubt` why the author thinks that its own may be overfitted. `exit` is the
    command line's exit code.
    """

    schema_name: Literal["referee.report/1"] = Field(default="referee.report/1", alias="schema")
    run_id: str
    task: str = ""
    targets: tuple[str, ...] = ()
    stop_reason: StopReason
    solved: bool
    steps: int = 0
    candidates_judged: int = 0
    tokens: int = 0
    cost_usd: Usd = Decimal(0)
    tool_seconds: float = 0.0
    wall_seconds: float = 0.0
    generator: str = ""
    isolation: IsolationStamp | None = None
    touched_files: tuple[str, ...] = ()
    landed: Landed | None = None
    iterations: tuple[Iteration, ...] = ()
    # What follows is additive to the first schema.
    model_cost_usd: Usd = Decimal(0)
    usage: TokenUse = TokenUse()
    unauthorised: int = 0
    explanation: str = ""
    analysis: str = ""
    feedback: str = ""
    alternatives: tuple[str, ...] = ()
    doubt: str = ""
    answer: str = ""
    metrics: Metrics | None = None
    presented: tuple[Presented, ...] = ()
    notes: tuple[str, ...] = ()
    budget: Budget = Budget()
    pressure: float = 0.0
    config: tuple[Setting, ...] = ()
    environment: Mapping[str, str] = {}
    started_at: str = ""
    finished_at: str = ""
    exit: int = 0

    @field_serializer("budget", when_used="json")
    def _budget(self, budget: Budget) -> dict[str, int | float]:
        return {**budget.model_dump(), "max_cost_usd": float(budget.max_cost_usd)}

    @property
    def spent(self) -> Cost:
        """The cost on all axes, as a budget counts it."""
        return Cost(
            steps=self.steps,
            seconds=self.wall_seconds,
            tokens=self.tokens,
            usd=self.cost_usd,
            tool_seconds=self.tool_seconds,
        )


class Outcome(Value):
    """How a run ended. `diff` is what landed, or would have, as text.

    `git apply` takes it unless it shows lines that are not UTF-8; the run's `.patch` file is exact.
    """

    solved: bool
    stop_reason: StopReason
    diff: str = ""
    report: Report


class RunSummary(Value):
    """One line of `referee runs`; `stop_reason` is None while a run is unfinished."""

    run_id: str
    status: str
    created: str
    task: str = ""
    stop_reason: StopReason | None = None
    solved: bool = False
    steps: int = 0
    cost_usd: Usd = Decimal(0)
    wall_seconds: float = 0.0
    touched_files: tuple[str, ...] = ()


class LayerState(Value):
    """What one check of a layer said. The fields from `optional` on are for other forms of the report, not in JSON.

    `optional` says that it may be missing; `passing` and `failing` name the tests of a check that runs some.
    """

    layer: Layer
    check: str
    state: CheckState
    duration_ms: int = 0
    note: str = ""
    optional: bool = Field(default=False, exclude=True)
    passing: tuple[str, ...] = Field(default=(), exclude=True)
    failing: tuple[str, ...] = Field(default=(), exclude=True)


class CheckFinding(Value):
    """One objection of a check. The fields from `error` on are for other forms of the report and not in JSON.

    `fingerprint` is the same for the same objection elsewhere in the same file.
    """

    check: str
    id: str = ""
    path: str = ""
    line: int = 0
    rule: str = ""
    message: str
    error: str = Field(default="", exclude=True)
    expected: str = Field(default="", exclude=True)
    actual: str = Field(default="", exclude=True)
    detail: tuple[str, ...] = Field(default=(), exclude=True)
    fingerprint: str = Field(default="", exclude=True)


class CheckReport(Document):
    """The judge on a tree as it is. `feedback` is the text a model would be given.

    `ignored` are findings that the user's settings say do not count; `isolation` is what ran the checks.
    """

    schema_name: Literal["referee.check/1"] = Field(default="referee.check/1", alias="schema")
    passed: bool
    layers: tuple[LayerState, ...] = ()
    findings: tuple[CheckFinding, ...] = ()
    feedback: str = ""
    ignored: tuple[CheckFinding, ...] = ()
    isolation: IsolationStamp | None = None


def check_report(results: Sequence[CheckResult], feedback: str) -> CheckReport:
    """The report on `results`. Passed means that something ran and every check passed; "not run" is not passed."""
    layers = tuple(
        LayerState(
            layer=r.layer, check=r.check, state=r.state, duration_ms=r.duration_ms, note=_note(r),
            optional=r.optional, passing=r.passed_ids, failing=r.failed_ids,
        )
        for r in results
    )  # fmt: skip
    findings = tuple(told(f) for r in results if not r.clear for f in r.findings)
    ignored = tuple(told(f) for r in results for f in r.ignored)
    ran = any(r.state is CheckState.PASS for r in results)
    passed = ran and all(r.clear for r in results)
    return CheckReport(passed=passed, layers=layers, findings=findings, feedback=feedback, ignored=ignored)


def _note(result: CheckResult) -> str:
    parts = [result.note] if result.note else []
    parts += [f"{len(result.ignored)} ignored"] if result.ignored else []
    parts += ["it may be missing"] if result.clear and result.state is CheckState.NOT_RUN else []
    return "; ".join(parts)


def told(finding: Finding) -> CheckFinding:
    names = ("check", "id", "path", "line", "rule", "message", "error", "expected", "actual", "detail")
    return CheckFinding(**{name: getattr(finding, name) for name in names}, fingerprint=fingerprint([finding]))


class BackendReport(Value):
    """What one way of isolating can do here. `probes` are the single measurements; `advice` what would help.

    `isolates` sums them up by aspect: `full`, `partial` or `none`, for memory `hard` or `watched`. `lacks` is what a
    partial backend does not do, in words.
    """

    name: str
    usable: bool
    why_not: str = ""
    level: str
    probes: Mapping[str, Any] = {}
    isolates: Mapping[str, str] = {}
    lacks: tuple[str, ...] = ()
    advice: str = ""


class DoctorReport(Value):
    """What this machine can isolate. `chosen` is the backend a run would use, empty if none may be used.

    `degraded` is the one that a run with --allow-degraded would use, `probed` how each aspect was measured.
    """

    backends: tuple[BackendReport, ...] = ()
    chosen: str = ""
    degraded: str = ""
    probed: Mapping[str, str] = {}
    user_file: str = ""


class ReplayReport(Value):
    """Whether a replay reached the same decisions; if not, in words, where it first came to something else."""

    same: bool
    decisions: int
    first_difference: str | None = None


class AttackResult(Value):
    """One attack on the sandbox: `stopped`, `escaped` or `not tried`; `said` is what it achieved, or why not."""

    name: str
    promise: str
    outcome: str
    said: str = ""


class AttackReport(Value):
    """How the sandbox held. `promise` of an attack names the part of the isolation that has to stop it."""

    backend: str
    level: str
    attacks: tuple[AttackResult, ...] = ()

    def count(self, outcome: str) -> int:
        """How many attacks ended so."""
        return sum(1 for each in self.attacks if each.outcome == outcome)

    @property
    def held(self) -> bool:
        """Whether nothing escaped, and something tried."""
        return self.count("escaped") == 0 and self.count("stopped") > 0


class ChainReport(Value):
    """Whether journals are as written; `first_bad` is the number of the first entry of `run_id` that is not."""

    ok: bool
    entries: int
    first_bad: int | None = None
    run_id: str | None = None
