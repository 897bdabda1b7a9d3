"""What a client that shows views is given beside the text and the data of a result."""

from __future__ import annotations

from referee.domain.component import Component, FindingItem, Findings, Tone, budget_meter, diff_review, timeline
from referee.domain.report import CheckFinding, CheckReport, Outcome
from referee.render.app import view
from referee.render.words import title

_STEPS = _FINDINGS = 50  # the newest steps, the first findings


def of_run(outcome: Outcome) -> str:
    """A run: its steps, its budget and its change."""
    report = outcome.report
    parts: list[tuple[str, Component]] = [("Budget", budget_meter(report.budget, report.spent))]
    if report.iterations:
        parts.insert(0, ("Steps", timeline(report.iterations[-_STEPS:], len(report.iterations))))
    if outcome.diff:
        parts.append(("Change", diff_review(outcome.diff)))
    state = ("Solved", Tone.GOOD) if report.solved else ("Not solved", Tone.BAD)
    return view(title(report), state, *parts)


def of_check(report: CheckReport) -> str:
    """What the checks say of the tree."""
    items = tuple(map(_item, report.findings[:_FINDINGS]))
    shown = Findings(items=items, total=len(report.findings))
    state = ("Passed", Tone.GOOD) if report.passed else ("Failed", Tone.BAD)
    return view("The checks", state, ("Findings", shown))


def _item(found: CheckFinding) -> FindingItem:
    place = f"{found.path}:{found.line}" if found.path and found.line else found.path
    return FindingItem(
        check=found.check, title=found.id or found.rule or found.check, place=place, message=found.message
    )
