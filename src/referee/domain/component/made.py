"""Components made from what a run has to tell."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from referee.domain.component.values import (
    BudgetMeter,
    FindingItem,
    Findings,
    Meter,
    RoundItem,
    Timeline,
    Tone,
)
from referee.domain.cost import Budget, BudgetView, Cost
from referee.domain.finding import Finding, FindingKind
from referee.domain.report import Iteration

_KINDS = {
    FindingKind.NOT_RUN: "did not run",
    FindingKind.UNAUTHORISED: "not allowed",
    FindingKind.TAMPER: "tampering",
    FindingKind.UNAPPLIABLE: "does not apply",
    FindingKind.OBJECTION: "objection",
}


def budget_meter(budget: Budget, spent: Cost) -> BudgetMeter:
    """The four axes in a fixed order. An axis limited to nothing has share 0."""
    meters = (
        _meter("steps", spent.steps, budget.max_steps, f"{spent.steps} of {budget.max_steps}"),
        _meter("time", spent.seconds, budget.timeout, f"{spent.seconds:.1f} of {budget.timeout:g} s"),
        _meter("tokens", spent.tokens, budget.max_tokens, f"{spent.tokens:,} of {budget.max_tokens:,}"),
        _meter("money", spent.usd, budget.max_cost_usd, f"{dollars(spent.usd)} of {dollars(budget.max_cost_usd)}"),
    )
    return BudgetMeter(
        meters=meters,
        pressure=BudgetView(budget=budget, spent=spent).pressure,
        model_cost_usd=spent.usd,
        tool_seconds=spent.tool_seconds,
    )


def dollars(amount: Decimal) -> str:
    """US dollars, with more digits where two would hide something."""
    return f"${amount:.2f}" if amount == round(amount, 2) else f"${amount:.4f}"


def timeline(rows: Sequence[Iteration], total: int = 0) -> Timeline:
    """Steps as a timeline; `total` says how many there are if these are only a part."""
    return Timeline(rounds=tuple(_round(r) for r in rows), total=total or len(rows))


def findings(found: Sequence[Finding], most: int = 50) -> Findings:
    """The first `most` objections."""
    return Findings(items=tuple(_item(f) for f in found[:most]), total=len(found))


def _round(row: Iteration) -> RoundItem:
    if row.passed:
        how, tone = "passed every check", Tone.GOOD
    elif not row.proposed:
        how, tone = row.note or "nothing found", Tone.QUIET
    else:
        killed = f" (killed: {row.killed_by})" if row.killed_by else ""
        where = f"failed at {row.layer.value}" if row.layer else "refused"
        how, tone = f"{where}{killed}", Tone.BAD if row.layer else Tone.WARN
    return RoundItem(
        step=row.step,
        author=row.author,
        how=how,
        tone=tone,
        layer=row.layer.value if row.layer else "",
        touched=row.touched,
        failed=row.failed or ((row.note,) if row.note and row.proposed and not row.passed else ()),
        candidates=row.candidates_judged,
        fingerprint=row.fingerprint,
        duration_ms=row.duration_ms,
    )


def _item(finding: Finding) -> FindingItem:
    place = f"{finding.path}:{finding.line}" if finding.path and finding.line else finding.path
    kind = _KINDS.get(finding.kind, "")
    frames = tuple(f"{f.path}:{f.line} in {f.function}: {f.source}".rstrip(": ") for f in finding.frames)
    return FindingItem(
        check=finding.check,
        title=finding.id or finding.rule or finding.check,
        place="" if place == finding.id else place,
        error=kind or finding.error or finding.rule,
        message=finding.message,
        expected=finding.expected,
        actual=finding.actual,
        detail=(*finding.detail, *frames),
        tone=Tone.WARN if finding.kind is FindingKind.NOT_RUN else Tone.BAD,
    )


def _meter(name: str, spent: float | Decimal, limit: float | Decimal, words: str) -> Meter:
    share = float(spent) / float(limit) if limit else 0.0
    return Meter(name=name, share=min(1.0, max(0.0, share)), words=words)
