"""What is remembered of this repository and this person, and whether it counts."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from referee import api
from referee.domain.component import Cell, Table
from referee.domain.memory import Standing
from referee.render.elements import Child, el
from referee.render.parts import table
from referee.web.frame import page

_HEAD = ("Memory", "State", "For", "From", "Since")


def memory(request: Request) -> Response:
    """The page."""
    kept, problems = api.memories(request.app.state.watch.root)
    body: Child = (
        table(Table(caption="Memories", head=_HEAD, rows=tuple(_row(s) for s in kept)))
        if kept
        else el("p", "Nothing is remembered. Say something with ", el("code", "referee memory add"), class_="empty")
    )
    faults = el("ul", *(el("li", words) for words in problems)) if problems else None
    hint = el("p", "Confirm or forget one with ", el("code", "referee memory confirm|forget ID"), class_="quiet")
    return page(request, "Memory", el("h1", "Memory"), body, hint if kept else None, faults)


def _row(one: Standing) -> tuple[Cell, ...]:
    memory = one.memory
    return (
        Cell(text=f"{memory.text} ({memory.id})"),
        Cell(text=one.state.value),
        Cell(text=memory.layer.value),
        Cell(text=" ".join(filter(None, (memory.origin.value, memory.source)))),
        Cell(text=str(memory.date)),
    )
