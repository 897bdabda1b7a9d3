"""What a person sees of a running repair: a value folded from progress events, and a picture of it.

Events and the facts used of them (all optional; "spent" and "budget" come with every event):
opened: task, targets · baseline: what · round: step, author, pressed · author: what · check: what, check, layer ·
search: what · call: tool, arguments · candidate: judged, passed · verdict: verdict (a `Verdict`) ·
decision: decision · note: text · landing: touched · ended: stop_reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from referee.domain.component import budget_meter
from referee.domain.cost import HIGH_PRESSURE, Budget, BudgetView, Cost
from referee.domain.value import Value
from referee.domain.verdict import Verdict
from referee.render.plain import line


class View(Value):
    """What is known right now; every text is already neutralised and on one line."""

    title: str = ""
    step: int = 0
    author: str = ""
    now: str = "starting"
    candidates: int = 0
    failure: str = ""
    pressed: bool = False
    spent: Cost = Cost()
    budget: Budget = Budget()


def fold(view: View, event: str, facts: Mapping[str, Any]) -> View:
    """The view after an event. Total: unknown events and odd facts leave it as it was, and nothing raises."""
    changes = _CHANGES.get(event, _nothing)(view, facts)
    if isinstance(facts.get("spent"), Cost) and isinstance(facts.get("budget"), Budget):
        changes |= {"spent": facts["spent"], "budget": facts["budget"]}
    return view.model_copy(update=changes)


Changes = dict[str, Any]


def _nothing(view: View, facts: Mapping[str, Any]) -> Changes:
    return {}


def _opened(view: View, facts: Mapping[str, Any]) -> Changes:
    return {"title": _text(facts, "task") or _text(facts, "targets"), "now": "reading the repository"}


def _round(view: View, facts: Mapping[str, Any]) -> Changes:
    return {
        "step": _number(facts, "step") or view.step + 1,
        "author": _text(facts, "author"),
        "pressed": bool(facts.get("pressed")),
        "now": "looking for a repair",
        "candidates": 0,
    }


def _busy(view: View, facts: Mapping[str, Any]) -> Changes:
    what = _text(facts, "what") or " ".join(filter(None, (_text(facts, "layer"), _text(facts, "check"))))
    return {"now": what or view.now}


def _call(view: View, facts: Mapping[str, Any]) -> Changes:
    return {"now": f"{_text(facts, 'tool')} {_text(facts, 'arguments')}"[:120]}


def _candidate(view: View, facts: Mapping[str, Any]) -> Changes:
    judged = max(view.candidates, _number(facts, "judged"))
    passed = _number(facts, "passed")
    now = f"{judged} candidates judged"
    return {"candidates": judged, "now": f"{now}, {passed} passed the target" if passed else now}


def _verdict(view: View, facts: Mapping[str, Any]) -> Changes:
    verdict = facts.get("verdict")
    if not isinstance(verdict, Verdict):
        return {}
    if verdict.passed:
        return {"now": "every check passed", "failure": ""}
    first = verdict.findings[0] if verdict.findings else None
    failure = f"{first.id or first.check}: {first.message}" if first else verdict.note
    return {"now": "deciding", "failure": line(failure) or view.failure}


def _landing(view: View, facts: Mapping[str, Any]) -> Changes:
    return {"now": "landing"}


_CHANGES: Mapping[str, Callable[[View, Mapping[str, Any]], Changes]] = {
    "opened": _opened,
    "baseline": _busy,
    "round": _round,
    "author": _busy,
    "search": _busy,
    "check": _busy,
    "call": _call,
    "candidate": _candidate,
    "verdict": _verdict,
    "landing": _landing,
}


def picture(view: View, seconds: float, width: int) -> RenderableType:
    """The view as a few lines no wider than `width`; `seconds` went by since its last event."""
    spent = view.spent.model_copy(update={"seconds": view.spent.seconds + max(0.0, seconds)})
    pressure = BudgetView(budget=view.budget, spent=spent).pressure
    head = Text(no_wrap=True, overflow="ellipsis")
    head.append("referee ", "bold")
    head.append(line(view.title, max(10, width - 10)))
    now = Text(no_wrap=True, overflow="ellipsis", style=_colour(pressure))
    step = f"step {view.step} of {view.budget.max_steps} · {view.author} · " if view.step else ""
    now.append(line(f"{step}{view.now}{' · short of budget' if view.pressed else ''}", width))
    lines: list[RenderableType] = [head, now, _bars(view.budget, spent, width)]
    if view.failure:
        lines.append(Text(line(f"last failure: {view.failure}", width), "dim", no_wrap=True, overflow="ellipsis"))
    return Group(*lines)


def _bars(budget: Budget, spent: Cost, width: int) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    room = max(4, min(30, width - 36))
    for axis in budget_meter(budget, spent).meters:
        bar = ProgressBar(total=1.0, completed=axis.share, width=room, complete_style=_colour(axis.share))
        grid.add_row(Text(axis.name, "dim"), bar, Text(axis.words, no_wrap=True, overflow="ellipsis"))
    return grid


def _colour(share: float) -> str:
    return "red" if share > HIGH_PRESSURE else "yellow" if share > HIGH_PRESSURE / 2 else "green"


def _text(facts: Mapping[str, Any], name: str) -> str:
    value = facts.get(name)
    if isinstance(value, list | tuple):
        value = ", ".join(str(v) for v in value)
    return line(value) if isinstance(value, str) else ""


def _number(facts: Mapping[str, Any], name: str) -> int:
    value = facts.get(name)
    return value if isinstance(value, int) and value >= 0 else 0
