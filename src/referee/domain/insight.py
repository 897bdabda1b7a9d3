"""What many runs say together: what fails again and again, and where time and money go. Pure folds over reports."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

from referee.domain.report import Report, Usd
from referee.domain.value import Value

_RECURRING = 2  # runs in which a failure must show to be told
_MOST = 10
_BAD_CALLS = 0.1  # share of a tool's calls


class Recurring(Value):
    """A failure that several runs ran into."""

    fingerprint: str
    runs: int
    failed: tuple[str, ...] = ()


class ToolUse(Value):
    """One tool over all runs: its calls, and those that named no tool or had wrong arguments."""

    tool: str
    calls: int
    invalid: int

    @property
    def invalid_rate(self) -> float:
        """The share of its calls that were invalid, 0 to 1."""
        return self.invalid / self.calls if self.calls else 0.0


class Spent(Value):
    """Where time and money went: by generator or by stop reason. Seconds of wall clock."""

    name: str
    runs: int
    solved: int
    seconds: float
    tool_seconds: float
    usd: Usd


class Insights(Value):
    """What many runs say together; `first` is what to mend first, in words, the most worthwhile first."""

    runs: int
    solved: int
    recurring: tuple[Recurring, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    by_generator: tuple[Spent, ...] = ()
    by_reason: tuple[Spent, ...] = ()
    first: tuple[str, ...] = ()


def insights(reports: Sequence[Report], calls: Iterable[tuple[str, str]] = ()) -> Insights:
    """The insights from reports and tool calls, each a tool's name and an outcome."""
    found = Insights(
        runs=len(reports),
        solved=sum(r.solved for r in reports),
        recurring=_recurring(reports),
        tools=_tools(calls),
        by_generator=_spent(reports, lambda r: r.generator or "none"),
        by_reason=_spent(reports, lambda r: r.stop_reason.value),
    )
    return found.model_copy(update={"first": tuple(_first(found, reports))})


def _recurring(reports: Sequence[Report]) -> tuple[Recurring, ...]:
    runs: dict[str, set[str]] = defaultdict(set)
    failed: dict[str, tuple[str, ...]] = {}
    for report in reports:
        for row in report.iterations:
            if row.fingerprint and not row.passed:
                runs[row.fingerprint].add(report.run_id)
                failed.setdefault(row.fingerprint, row.failed)
    often = sorted(((len(ids), f) for f, ids in runs.items() if len(ids) >= _RECURRING), reverse=True)
    return tuple(Recurring(fingerprint=f, runs=n, failed=failed[f]) for n, f in often[:_MOST])


def _tools(calls: Iterable[tuple[str, str]]) -> tuple[ToolUse, ...]:
    total: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    for tool, outcome in calls:
        total[tool] += 1
        bad[tool] += outcome == "invalid"
    found = [ToolUse(tool=t, calls=n, invalid=bad[t]) for t, n in total.items()]
    return tuple(sorted(found, key=lambda t: (-t.invalid_rate, t.tool))[:_MOST])


def _spent(reports: Sequence[Report], group: Callable[[Report], str]) -> tuple[Spent, ...]:
    groups: dict[str, list[Report]] = defaultdict(list)
    for report in reports:
        groups[group(report)].append(report)
    rows = [
        Spent(
            name=name,
            runs=len(members),
            solved=sum(m.solved for m in members),
            seconds=round(sum(m.wall_seconds for m in members), 3),
            tool_seconds=round(sum(m.tool_seconds for m in members), 3),
            usd=sum((m.cost_usd for m in members), Decimal(0)),
        )
        for name, members in groups.items()
    ]
    return tuple(sorted(rows, key=lambda s: (-s.seconds, s.name)))


def _first(found: Insights, reports: Sequence[Report]) -> Iterable[str]:
    """The advice: what costs most runs, then most time."""
    if found.recurring:
        worst = found.recurring[0]
        what = ", ".join(worst.failed[:2]) or worst.fingerprint
        yield f"{worst.runs} runs met the same failure ({what}); mend that by hand or make the task smaller"
    for tool in found.tools:
        if tool.calls >= _MOST and tool.invalid_rate > _BAD_CALLS:
            yield f"{tool.invalid_rate:.0%} of the calls of {tool.tool} are invalid; try another model, or fewer tools"
    slow = sum(r.tool_seconds for r in reports)
    wall = sum(r.wall_seconds for r in reports)
    if wall and slow > wall / 2:
        share = min(1.0, slow / wall)
        yield f"checks take {share:.0%} of the time; a map of the tests (`referee check --map`) shortens them"
    if lost := next((s for s in found.by_reason if not s.solved), None):
        yield f"most time without a result went into {lost.name} ({lost.seconds:.0f} s in {lost.runs} runs)"
