"""Components as markup, for the page and for the report that stands alone: same words, same look, no script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.domain.component import (
    Approval,
    BudgetMeter,
    Cell,
    Component,
    FindingItem,
    Findings,
    Meter,
    RoundItem,
    Table,
    Timeline,
    Tone,
)
from referee.domain.cost import HIGH_PRESSURE
from referee.render.elements import Html, el, join
from referee.render.review import review
from referee.render.waterfall import plot

WORDS = {Tone.GOOD: "passed", Tone.BAD: "failed", Tone.WARN: "refused", Tone.QUIET: "nothing", Tone.PLAIN: ""}


def markup(component: Component) -> Html:
    """Any component."""
    return _RENDERERS[component.kind](component)


def pill(words: str, tone: Tone) -> Html:
    """A state in a few words."""
    return el("span", words, class_=f"pill {tone.value}")


def table(given: Table) -> Html:
    """A table that scrolls by itself where the window is narrow."""
    head = el("tr", *(el("th", name, scope="col") for name in given.head))
    rows = (el("tr", *(_cell(c) for c in row)) for row in given.rows)
    caption = el("caption", given.caption, class_="unseen")
    inner = el("table", caption, el("thead", head), el("tbody", *rows))
    return el("div", inner, class_="scroll", tabindex=0, role="region", aria_label=given.caption)


def _cell(cell: Cell) -> Html:
    inner: Html = el("code", cell.text) if cell.code else join(cell.text)
    if cell.href:
        inner = el("a", inner, href=cell.href)
    if cell.tone is not Tone.PLAIN and cell.text:
        inner = el("span", inner, class_=f"said {cell.tone.value}")
    return el("td", inner)


def budget(given: BudgetMeter) -> Html:
    """Four meters and the pressure, each with its words."""
    pressure = Meter(name="pressure", share=given.pressure, words=f"{given.pressure:.0%}")
    meters = [_meter(m) for m in (*given.meters, pressure)]
    apart = f"Models cost ${given.model_cost_usd:.4f}; checks and commands took {given.tool_seconds:.1f} s."
    return el("div", el("div", *meters, class_="meters"), el("p", apart, class_="quiet"))


def _meter(meter: Meter) -> Html:
    level = "bad" if meter.share > HIGH_PRESSURE else "warn" if meter.share > HIGH_PRESSURE / 2 else "good"
    bar = el("meter", meter.words, class_=level, min=0, max=1, value=f"{meter.share:.4f}", aria_label=meter.name)
    name, words = el("span", meter.name, class_="name"), el("span", meter.words, class_="words")
    return el("div", name, words, bar, class_="meter")


def found(given: Findings) -> Html:
    """Objections, each with its place and what was expected and seen."""
    if not given.items:
        return el("p", "No findings.", class_="quiet")
    more = given.total - len(given.items)
    rest = el("p", f"and {more} more", class_="quiet") if more > 0 else None
    return join([el("ol", *(_finding(f) for f in given.items), class_="findings"), rest])


def _finding(item: FindingItem) -> Html:
    head = el(
        "p",
        el("span", item.check, class_="check"),
        " ",
        el("code", item.title),
        el("span", f" {item.place}", class_="quiet") if item.place else None,
    )
    message = ": ".join(filter(None, (item.error, item.message)))
    sides = [
        el("div", el("dt", name), el("dd", el("code", text)))
        for name, text in (("expected", item.expected), ("actual", item.actual))
        if text
    ]
    detail = el("pre", "\n".join(item.detail), tabindex=0) if item.detail else None
    return el("li", head, el("p", message), el("dl", *sides) if sides else None, detail, class_=item.tone.value)


def rounds(given: Timeline) -> Html:
    """Steps in order, the words of the result first."""
    return el("ol", *(_round(r) for r in given.rounds), class_="rounds")


def _round(item: RoundItem) -> Html:
    judged = f"{item.candidates} candidates" if item.candidates > 1 else ""
    facts = " · ".join(
        filter(None, (judged, f"{item.duration_ms / 1000:.1f} s" if item.duration_ms else "", item.fingerprint[:8]))
    )
    failed = [el("li", el("code", name)) for name in item.failed[:6]]
    if len(item.failed) > 6:
        failed.append(el("li", f"and {len(item.failed) - 6} more"))
    return el(
        "li",
        el("span", str(item.step), class_="step", aria_label=f"step {item.step}"),
        el(
            "div",
            el("p", el("span", item.how, class_=f"said {item.tone.value}"), " ", el("span", item.author, class_="who")),
            el("p", [join([el("code", path), " "]) for path in item.touched]) if item.touched else None,
            el("ul", *failed, class_="failed") if failed else None,
            el("p", facts, class_="quiet") if facts else None,
        ),
        class_=item.tone.value,
        id=f"step-{item.step}",
    )


def approval(given: Approval) -> Html:
    """What waits for a person: the whole text, its digest, and what to type; nothing in it answers."""
    facts = [el("code", given.id), f" {given.sort}, {given.status}", f", counts until {given.expires_at}"]
    typed = [el("p", "To answer, type: ", el("code", command)) for command in given.commands]
    digest = el("p", "Digest that an answer covers: ", el("code", given.digest), class_="quiet digest")
    return el("div", el("p", given.summary), el("p", *facts), el("pre", given.shown, tabindex=0), digest, *typed)


_RENDERERS: dict[str, Callable[[Any], Html]] = {
    "table": table,
    "budget_meter": budget,
    "findings": found,
    "timeline": rounds,
    "diff_review": review,
    "plot": plot,
    "approval": approval,
}
