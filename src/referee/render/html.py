"""A report as one HTML page that needs nothing else and runs nothing: the components of the page, in its look."""

from __future__ import annotations

from importlib import resources

from referee.domain.component import Cell, Table, Tone, budget_meter, diff_review, timeline
from referee.domain.report import Report
from referee.render.elements import Child, Html, el
from referee.render.parts import budget, pill, rounds, table
from referee.render.review import review
from referee.render.words import headline, title

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html(report: Report, diff: str = "") -> str:
    """The page. Everything from the run is escaped, and the page's own policy forbids scripts and requests."""
    feedback = "" if report.solved else report.feedback
    state = pill("Solved", Tone.GOOD) if report.solved else pill("Not solved", Tone.BAD)
    body = el(
        "main",
        el("p", state),
        el("h1", title(report)),
        el("p", headline(report)),
        *(el("p", words, class_="why") for words in (report.explanation, report.analysis) if words),
        _section("Targets", _items(report.targets)),
        _section("Steps", rounds(timeline(report.iterations)) if report.iterations else None),
        _section("Budget", budget(budget_meter(report.budget, report.spent))),
        _section("Notes", _items(report.notes)),
        _section("Other patches that passed", _items(report.alternatives)),
        _section("Last failure", el("pre", feedback) if feedback else None),
        _section("Change", review(diff_review(diff)) if diff else None),
        _section("Settings", _settings(report)),
        _section("Run", _about(report)),
    )
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", title(report)),
        el("style", Html(look())),
    )
    return "<!doctype html>\n" + el("html", head, el("body", body), lang="en") + "\n"


def look() -> str:
    """The one stylesheet, but for what it would have to load."""
    text = resources.files("referee.render").joinpath("assets", "look.css").read_text(encoding="utf-8")
    return "\n".join(row for row in text.splitlines() if "url(" not in row)


def _section(name: str, content: Child) -> Html | None:
    return el("section", el("h2", name), content) if content else None


def _items(items: tuple[str, ...]) -> Html | None:
    return el("ul", *(el("li", i) for i in items)) if items else None


def _settings(report: Report) -> Html | None:
    rows = tuple(_cells(s.key, str(s.value), s.origin) for s in report.config)
    return table(Table(caption="Settings", head=("key", "value", "from"), rows=rows)) if rows else None


def _about(report: Report) -> Html:
    isolation = f"{report.isolation.backend}, {report.isolation.level}" if report.isolation else ""
    rows = [
        ("run", report.run_id),
        ("stop reason", report.stop_reason.value),
        ("generator", report.generator),
        ("sandbox", isolation),
        ("started", report.started_at),
        ("finished", report.finished_at),
        *sorted(report.environment.items()),
    ]
    return table(Table(caption="Run", head=("what", "is"), rows=tuple(_cells(*r) for r in rows if r[1])))


def _cells(*texts: str) -> tuple[Cell, ...]:
    return tuple(Cell(text=text) for text in texts)
