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
from referee.web.pages.entries import TONES, entries_page
from referee.web.pages.run import tabs
from referee.web.pages.words import pager

PER_PAGE = 200


def journal(request: Request) -> Response:
    """The page."""
    run_id, shown = request.path_params["run_id"], entries_page(request, PER_PAGE)
    head = ("No", "Time (UTC)", "Kind", "What", "Facts", "Digest")
    rows = tuple(_row(e) for e in shown.entries)
    words = f"{shown.count:,} entries, each chained to the one before; check them with "
    content = part(
        "journal",
        el("p", words, el("code", f"referee journal verify {run_id}"), class_="quiet"),
        table(Table(caption=f"Journal of {run_id}", head=head, rows=rows)),
        pager(f"/runs/{quote(run_id)}/journal", shown.at, shown.last),
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
        return f"{outcome} {told}".strip(), TONES.get(outcome, Tone.PLAIN)
    if entry.kind is Kind.OPENED:
        return "work on the run began", Tone.PLAIN
    return str(facts.get("text") or json.dumps(facts)), Tone.PLAIN
