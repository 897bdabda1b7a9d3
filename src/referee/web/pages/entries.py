"""A run's journal entries, so many to a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request

from referee.domain.component import Tone
from referee.ports import Entry
from referee.web.pages.words import number

TONES = {"done": Tone.GOOD, "rejected": Tone.WARN, "exhausted": Tone.WARN, "fault": Tone.BAD, "lost": Tone.BAD}


@dataclass(frozen=True, kw_only=True)
class EntriesPage:
    """Page `at` of `last`, from 1, with its entries; `count` is of all entries of the run."""

    entries: Sequence[Entry]
    count: int
    at: int
    last: int


def entries_page(request: Request, per_page: int) -> EntriesPage:
    """The page that a request asks for, or the nearest there is."""
    watch, run_id = request.app.state.watch, request.path_params["run_id"]
    count = watch.state(run_id)[1]
    last = max(1, -(-count // per_page))
    at = min(number(request.query_params.get("page")), last)
    return EntriesPage(entries=watch.entries(run_id, (at - 1) * per_page, per_page), count=count, at=at, last=last)
