"""The actions of a run on its clock."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from referee.domain.component import Plot, Span, Tone
from referee.ports import Entry, Kind
from referee.render.elements import el
from referee.render.parts import markup
from referee.web.frame import page, part
from referee.web.pages.entries import TONES, entries_page
from referee.web.pages.run import tabs
from referee.web.pages.words import pager

PER_PAGE = 400  # entries, which are about half as many actions


def trace(request: Request) -> Response:
    """The page."""
    watch, run_id = request.app.state.watch, request.path_params["run_id"]
    shown = entries_page(request, PER_PAGE)
    later = watch.ended(run_id, _unended(shown.entries), shown.at * PER_PAGE)
    spans = spans_of(shown.entries, later)
    body = (
        markup(Plot(caption=f"Actions of {run_id}", spans=spans))
        if spans
        else el("p", "Nothing has been done yet.", class_="quiet")
    )
    return page(
        request,
        f"Trace of {run_id}",
        el("h1", "Trace"),
        tabs(run_id, "Trace"),
        part("trace", body, pager(f"/runs/{quote(run_id)}/trace", shown.at, shown.last)),
    )


def _unended(entries: Sequence[Entry]) -> frozenset[str]:
    ended = {e.key for e in entries if e.kind is Kind.ENDED}
    return frozenset(e.key for e in entries if e.kind is Kind.REQUESTED and e.key not in ended)


def spans_of(entries: Sequence[Entry], later: Sequence[Entry] = ()) -> tuple[Span, ...]:
    """Each action that was requested in `entries`, from its request to its end there or in `later`."""
    ends = {e.key: e for e in (*entries, *later) if e.kind is Kind.ENDED}
    if not entries:
        return ()
    start = _at(entries[0])
    return tuple(_span(e, ends.get(e.key), start) for e in entries if e.kind is Kind.REQUESTED)


def _span(entry: Entry, end: Entry | None, start: float) -> Span:
    began = _at(entry)
    if end is None:
        return Span(name=entry.action, start=began - start, seconds=None, words=entry.key.rpartition("/")[0])
    outcome = str(json.loads(end.payload).get("outcome", ""))
    return Span(
        name=entry.action,
        start=began - start,
        seconds=max(0.0, _at(end) - began),
        tone=TONES.get(outcome, Tone.PLAIN),
        words=" ".join(filter(None, (entry.key.rpartition("/")[0], "" if outcome == "done" else outcome))),
    )


def _at(entry: Entry) -> float:
    return datetime.fromisoformat(entry.at).timestamp()
