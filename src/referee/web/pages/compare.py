"""Two runs beside each other."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from referee.domain.component import Cell, Table, Tone, diff_review, timeline
from referee.domain.report import RunSummary
from referee.domain.run_view import RunView
from referee.render.elements import Child, Html, el
from referee.render.parts import rounds, table
from referee.render.plain import line
from referee.render.review import review
from referee.web.frame import page
from referee.web.pages.words import duration, state

_MOST_STEPS = 20
_MEASURES: tuple[tuple[str, Callable[[RunView], float], Callable[[float], str]], ...] = (
    ("steps", lambda v: len(v.rounds), lambda n: f"{n:g}"),
    ("candidates judged", lambda v: sum(r.candidates_judged for r in v.rounds), lambda n: f"{n:g}"),
    ("time", lambda v: v.spent.seconds, duration),
    ("checks and commands", lambda v: v.spent.tool_seconds, duration),
    ("tokens", lambda v: v.spent.tokens, lambda n: f"{n:,.0f}"),
    ("money", lambda v: float(v.spent.usd), lambda n: f"${n:.4f}"),
    ("files changed", lambda v: len(v.summary.touched_files), lambda n: f"{n:g}"),
)


def compare(request: Request) -> Response:
    """The page."""
    watch = request.app.state.watch
    known: tuple[RunSummary, ...] = watch.runs()
    first = request.query_params.get("a") or (known[1].run_id if len(known) > 1 else "")
    second = request.query_params.get("b") or next((s.run_id for s in known if s.run_id != first), "")
    content: list[Child] = [el("h1", "Compare two runs"), _choice(known, first, second)]
    if first and second:
        content += _sides(watch.run(first), watch.run(second))
    else:
        content.append(el("p", "Two runs are needed.", class_="empty"))
    return page(request, "Compare", *content)


def _choice(known: tuple[RunSummary, ...], first: str, second: str) -> Html:
    def options(chosen: str) -> list[Html]:
        return [
            el("option", f"{s.run_id} {state(s)[0]} {line(s.task, 40)}", value=s.run_id, selected=s.run_id == chosen)
            for s in known
        ]

    return el(
        "form",
        el("label", el("span", "First run"), el("select", *options(first), name="a")),
        el("label", el("span", "Second run"), el("select", *options(second), name="b")),
        el("button", "Compare", type="submit"),
        method="get",
        action="/compare",
        class_="filter",
        aria_label="Choose two runs",
    )


def _sides(first: RunView, second: RunView) -> list[Child]:
    rows = [_outcomes(first, second), *(_measured(m, first, second) for m in _MEASURES)]
    head = ("", "First", "Second", "Difference")
    same = bool(first.diff) and first.diff == second.diff
    return [
        table(Table(caption="Measures", head=head, rows=tuple(rows))),
        el("p", "Both changes are the same, byte for byte." if same else "The changes differ.", class_="quiet"),
        el("div", _side("First", first), _side("Second", second), class_="pair"),
    ]


def _outcomes(first: RunView, second: RunView) -> tuple[Cell, ...]:
    one, other = state(first.summary), state(second.summary)
    words = "same" if one == other else "differ"
    return (Cell(text="outcome"), Cell(text=one[0], tone=one[1]), Cell(text=other[0], tone=other[1]), Cell(text=words))


def _measured(
    measure: tuple[str, Callable[[RunView], float], Callable[[float], str]], first: RunView, second: RunView
) -> tuple[Cell, ...]:
    name, value, words = measure
    one, other = value(first), value(second)
    change = "same" if one == other else f"{'+' if other > one else '−'}{words(abs(other - one))}"
    tone = Tone.PLAIN if one == other else Tone.WARN if other > one else Tone.GOOD
    return (Cell(text=name), Cell(text=words(one)), Cell(text=words(other)), Cell(text=change, tone=tone))


def _side(name: str, view: RunView) -> Html:
    shown = view.rounds[-_MOST_STEPS:]
    return el(
        "section",
        el("h2", f"{name}: ", el("a", view.summary.run_id, href=f"/runs/{view.summary.run_id}")),
        rounds(timeline(shown)) if shown else el("p", "No step was judged.", class_="quiet"),
        review(diff_review(view.diff)),
    )
