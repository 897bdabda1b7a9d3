"""What is remembered of this repository and this person, whether it counts, and the repository's skills."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from referee import api
from referee.domain.component import Cell, Table
from referee.domain.memory import Standing
from referee.render.elements import Child, Html, el
from referee.render.parts import table
from referee.web.frame import page, part

_HEAD = ("Memory", "State", "For", "From", "Since")
_SKILLS = ("Skill", "What it is for", "Folder")


def memory(request: Request) -> Response:
    """The page."""
    root = request.app.state.watch.root
    kept, problems = api.memories(root)
    body: Child = (
        table(Table(caption="Memories", head=_HEAD, rows=tuple(_row(s) for s in kept)))
        if kept
        else el("p", "Nothing is remembered. Say something with ", el("code", "referee memory add"), class_="empty")
    )
    faults = el("ul", *(el("li", words) for words in problems)) if problems else None
    hint = el("p", "Confirm or forget one with ", el("code", "referee memory confirm|forget ID"), class_="quiet")
    skills = part("skills", _skills(root), title="Skills")
    return page(request, "Memory", el("h1", "Memory"), body, hint if kept else None, faults, skills)


def _skills(root: str) -> Html:
    """The skills by name; which of them a run is given depends on its task."""
    found = api.skills(root)
    if not found:
        return el("p", "The repository brings no skills (.agents/skills/NAME/SKILL.md).", class_="empty")
    rows = tuple((Cell(text=s.name), Cell(text=s.description), Cell(text=s.folder, code=True)) for s in found)
    return table(Table(caption="Skills", head=_SKILLS, rows=rows))


def _row(one: Standing) -> tuple[Cell, ...]:
    memory = one.memory
    return (
        Cell(text=f"{memory.text} ({memory.id})"),
        Cell(text=one.state.value),
        Cell(text=memory.layer.value),
        Cell(text=" ".join(filter(None, (memory.origin.value, memory.source)))),
        Cell(text=str(memory.date)),
    )
