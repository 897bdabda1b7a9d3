"""Typed results for people: what is shown, apart from how. A page, a terminal or an editor renders each its own way."""

from referee.domain.component.asked import approval, command
from referee.domain.component.diff import diff_review
from referee.domain.component.made import budget_meter, findings, timeline
from referee.domain.component.values import (
    Approval,
    BudgetMeter,
    Cell,
    Component,
    DiffReview,
    FileDiff,
    FindingItem,
    Findings,
    Hunk,
    Meter,
    Plot,
    Point,
    RoundItem,
    Side,
    Span,
    Table,
    Timeline,
    Tone,
)

__all__ = [
    "Approval",
    "BudgetMeter",
    "Cell",
    "Component",
    "DiffReview",
    "FileDiff",
    "FindingItem",
    "Findings",
    "Hunk",
    "Meter",
    "Plot",
    "Point",
    "RoundItem",
    "Side",
    "Span",
    "Table",
    "Timeline",
    "Tone",
    "approval",
    "budget_meter",
    "command",
    "diff_review",
    "findings",
    "timeline",
]
