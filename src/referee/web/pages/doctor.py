"""What this machine can isolate."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from referee import api
from referee.domain.component import Cell, Table, Tone
from referee.domain.report import BackendReport, DoctorReport
from referee.render.elements import Child, Html, el
from referee.render.parts import pill, table
from referee.web.frame import page

_TONES = {"full": Tone.GOOD, "hard": Tone.GOOD, "partial": Tone.WARN, "watched": Tone.WARN, "none": Tone.BAD}


def doctor(request: Request) -> Response:
    """The page; the probes are run when it is loaded."""
    found = api.doctor()
    return page(request, "Doctor", el("h1", "Doctor"), *_chosen(found), *(_backend(b, found) for b in found.backends))


def _chosen(found: DoctorReport) -> list[Child]:
    if found.chosen:
        return [el("p", "Commands of a run are isolated by ", el("code", found.chosen), ".", class_="why")]
    words = "Nothing on this machine isolates fully; a run refuses to start."
    weaker = f" With --allow-degraded it would use {found.degraded}." if found.degraded else ""
    return [el("p", pill("no isolation", Tone.BAD), " ", words + weaker)]


def _backend(backend: BackendReport, found: DoctorReport) -> Html:
    tone = _TONES.get(backend.level, Tone.PLAIN) if backend.usable else Tone.QUIET
    head = el("h2", el("code", backend.name), " ", pill(backend.level if backend.usable else "not usable", tone))
    aspects = tuple(
        (
            Cell(text=name.replace("_", " ")),
            Cell(text=level, tone=_TONES.get(level, Tone.PLAIN)),
            Cell(text=found.probed.get(name, "")),
        )
        for name, level in backend.isolates.items()
    )
    return el(
        "section",
        head,
        el("p", backend.why_not, class_="quiet") if backend.why_not else None,
        el("ul", *(el("li", words) for words in backend.lacks)) if backend.lacks else None,
        el("p", backend.advice) if backend.advice else None,
        table(Table(caption=f"What {backend.name} isolates", head=("Aspect", "Isolated", "Measured by"), rows=aspects))
        if aspects and backend.usable
        else None,
    )
