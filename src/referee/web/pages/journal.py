"""The journal of a run, a page at a time."""

from __future__ import annotations

import json
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from referee.domain.component import Cell, Table, Tone
from referee.ports import Entry, Kind
from referee.render.elements import el
from referee.render.parts import table
from referee.render.plain import line
from referee.web.frame import page, part
from referee.web.pages.run import tabs
from referee.web.pages.words import number, pager

PER_PAGE = 200
_TONES = {"done": Tone.GOOD, "rejected": Tone.WARN, "exhausted": Tone.WARN, "fault": Tone.BAD, "lost": Tone.BAD}


def journal(request: Request) -> Response:
    """The page."""
    watch, run_id = request.app.state.watch, request.path_params["run_id"]
    count = watch.state(run_id)[1]
    last = max(1, -(-count // PER_PAGE))
    at = min(number(request.query_params.get("page")), last)
    entries = watch.entries(run_id, (at - 1) * PER_PAGE, PER_PAGE)
    head = ("No", "Time (UTC)", "Kind", "What", "Facts", "Digest")
    shown = table(Table(caption=f"Journal of {run_id}", head=head, rows=tuple(_row(e) for e in entries)))
    words = f"{count:,} entries, each chained to the one before; check them with "
    content = part(
        "journal",
        el("p", words, el("code", f"referee journal verify {run_id}"), class_="quiet"),
        shown,
        pager(f"/runs/{quote(run_id)}/journal", at, last),
    )
    return page(request, f"Journal of {run_id}", el("h1", "Journal"), tabs(run_id, "Journal"), content)


def _row(entry: Entry) -> tuple[Cell, ...]:
    facts = json.loads(entry.payload)
    words, tone = _words(entry, facts)
    return (
        Cell(text=str(entry.n)),
        Cell(text=entry.at[11:23]),
        Cell(text=entry.kind.value),
        Cell(text=entry.key, code=True),
        Cell(text=line(words, 160), tone=tone),
        Cell(text=entry.digest[:12], code=True),
    )


def _words(entry: Entry, facts: dict[str, object]) -> tuple[str, Tone]:
    """The facts of an entry that a person asks for first."""
    if entry.kind is Kind.REQUESTED:
        return f"{facts.get('effect', '')}, request {str(facts.get('action_digest', ''))[:12]}", Tone.PLAIN
    if entry.kind is Kind.ENDED:
        outcome = str(facts.get("outcome", ""))
        told = str(facts.get("result", "")) if outcome in ("fault", "rejected") else ""
        return f"{outcome} {told}".strip(), _TONES.get(outcome, Tone.PLAIN)
    if entry.kind is Kind.OPENED:
        return "work on the run began", Tone.PLAIN
    return str(facts.get("text") or json.dumps(facts)), Tone.PLAIN
