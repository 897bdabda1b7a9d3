"""The list of runs, with filters."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from referee.domain.component.made import dollars
from referee.domain.report import RunSummary
from referee.render.elements import Html, el
from referee.render.plain import line
from referee.web import live
from referee.web.frame import page, part
from referee.web.pages.words import duration, moment, number, pager, standing

PER_PAGE = 50
FILTERS = {
    "all": "All",
    "running": "Running",
    "waiting": "Waiting",
    "solved": "Solved",
    "unsolved": "Not solved",
    "stopped": "Stopped",
}


def runs(request: Request) -> Response:
    """The page."""
    asked = request.query_params
    words, kind = asked.get("q", ""), asked.get("state", "all")
    everything: tuple[RunSummary, ...] = request.app.state.watch.runs()
    found = [s for s in everything if _fits(s, kind) and _mentions(s, words)]
    last = max(1, -(-len(found) // PER_PAGE))
    at = min(number(asked.get("page")), last)
    shown = found[(at - 1) * PER_PAGE : at * PER_PAGE]
    query = "&" + urlencode({"state": kind, "q": words})
    body = part(
        "list",
        el("p", f"{len(found)} of {len(everything)} runs", class_="quiet", data_said=f"{len(found)} runs"),
        _table(shown) if shown else _empty(bool(everything)),
        pager("/", at, last, query),
    )
    return page(request, "Runs", el("h1", "Runs"), _filter(kind, words), body, live="/events")


def events(request: Request) -> StreamingResponse:
    """Tells when a run began, ended or changed."""
    watch = request.app.state.watch
    return live.events(watch.states, lambda: False)


def _fits(summary: RunSummary, kind: str) -> bool:
    if kind in ("running", "waiting", "stopped"):
        return summary.status == kind
    if kind in ("solved", "unsolved"):
        return summary.status == "done" and summary.solved is (kind == "solved")
    return True


def _mentions(summary: RunSummary, words: str) -> bool:
    text = " ".join((summary.run_id, summary.task, *summary.touched_files)).lower()
    return all(word in text for word in words.lower().split())


def _filter(kind: str, words: str) -> Html:
    options = [el("option", label, value=name, selected=name == kind) for name, label in FILTERS.items()]
    return el(
        "form",
        el("label", el("span", "State"), el("select", *options, name="state")),
        el(
            "label",
            el("span", "Contains"),
            el("input", type="search", name="q", value=words, placeholder="task, id or file"),
        ),
        el("button", "Filter", type="submit"),
        method="get",
        action="/",
        class_="filter",
        role="search",
        aria_label="Filter runs",
    )


def _table(shown: list[RunSummary]) -> Html:
    head = el("tr", *(el("th", n, scope="col") for n in ("State", "Run", "Started (UTC)", "Steps", "Time", "Cost")))
    body = el("tbody", *(_row(s) for s in shown))
    inner = el("table", el("caption", "Runs, newest first", class_="unseen"), el("thead", head), body, class_="runs")
    return el("div", inner, class_="scroll", role="region", aria_label="Runs", tabindex=0)


def _row(summary: RunSummary) -> Html:
    files = line(", ".join(summary.touched_files), 80)
    name = el("a", line(summary.task, 90) or summary.run_id, href=f"/runs/{quote(summary.run_id)}")
    about = [el("code", summary.run_id), f" {files}" if files else ""]
    ended = summary.stop_reason is not None
    return el(
        "tr",
        el("td", standing(summary)),
        el("td", name, el("div", *about, class_="quiet")),
        el("td", moment(summary.created)),
        el("td", str(summary.steps) if ended else "", class_="amount"),
        el("td", duration(summary.wall_seconds) if ended else "", class_="amount"),
        el("td", dollars(summary.cost_usd) if ended else "", class_="amount"),
    )


def _empty(any_at_all: bool) -> Html:
    if any_at_all:
        return el("p", "No run fits this filter.", class_="empty")
    return el("p", "No runs yet. Start one in this repository: ", el("code", "referee fix"), class_="empty")
