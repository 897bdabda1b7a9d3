"""The tools for people: ask, present, and request, which asks for one call that a rule denies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from referee.actions.ask import AskPerson
from referee.domain.observation import Observation, Presented, failed
from referee.domain.risk import Risk
from referee.tools.room import Room
from referee.tools.tool import tool
from referee.tools.words import counted, readable

MOST_OPEN = 3
MOST_SHOWN = 10
SHOWN_CHARS = 4_000
CELL_CHARS = 300


@tool("people", Risk.READ)
def ask(
    room: Room,
    question: Annotated[str, Field(min_length=1, max_length=2_000)],
    options: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=9)] = [],  # noqa: B006 - read only
    blocking: Annotated[bool, Field(description="false: go on; the answer comes later as a message")] = True,
) -> Observation:
    """Ask the person what only they can decide; put all you need into one question. Blocking, the work waits for them.

    Not for what can be looked up, and not for permission: use request.
    """
    action = AskPerson(question=question, options=tuple(options))
    if blocking:
        return Observation(text=f"{room.run.perform(action)}\n[the person's answer]")
    if len(room.asked) >= MOST_OPEN:
        return failed(f"{MOST_OPEN} questions are open already; go on without, or ask a blocking one")
    key, asked = room.run.post(action)
    room.run.note(f"asked, and going on meanwhile: {asked.summary} (`referee answer {asked.id} TEXT`)")
    return Observation(
        text="[asked; go on with what does not depend on it, and say in the end what you assumed]", asked=key
    )


class Sheet(BaseModel):
    """A table."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    kind: Literal["table"] = "table"
    head: Annotated[list[str], Field(min_length=1, max_length=12)]
    rows: Annotated[list[list[str]], Field(max_length=200)]


@tool("people", Risk.READ)
def present(
    room: Room,
    files: Annotated[list[str], Field(max_length=MOST_SHOWN)] = [],  # noqa: B006 - read only
    component: Sheet | None = None,
    caption: Annotated[str, Field(max_length=200)] = "",
) -> Observation:
    """Show the person files or a table, in the terminal and the report. The files must exist.

    Not for your answer, nor for the diff, which is shown anyway.
    """
    if not files and component is None:
        raise ValueError("there is nothing to show; give files, or a component")
    if component is not None and any(len(row) != len(component.head) for row in component.rows):
        raise ValueError(f"each row of the table must have {counted(len(component.head), 'cell')}, as head has")
    contents = {place: room.read(place) for place in map(room.located, files)}
    missing = [place for place, data in contents.items() if data is None]
    if missing:
        return failed(f"nothing was shown: there is no file {', '.join(missing)}")
    shown = Presented(
        title=caption,
        files=tuple((place, readable(data or b"")[0][:SHOWN_CHARS]) for place, data in contents.items()),
        head=_cells(component.head) if component else (),
        rows=tuple(map(_cells, component.rows)) if component else (),
    )
    what = [counted(len(files), "file")] if files else []
    what += [f"a table of {counted(len(shown.rows), 'row')}"] if component else []
    return Observation(text=f"[shown: {' and '.join(what)}]", presented=shown)


def _cells(row: list[str]) -> tuple[str, ...]:
    return tuple(readable(cell.encode("utf-8", "replace"))[0][:CELL_CHARS] for cell in row)


@tool("escalation", Risk.READ)
def request(
    room: Room,
    what: Annotated[str, Field(min_length=1, description="name of the tool that was denied")],
    why: Annotated[str, Field(min_length=10, max_length=1_000)],
) -> Observation:
    """Ask a person to allow one call of a tool that a rule denies. The work waits for the answer.

    Not for protected files: nobody can allow those here. Not for questions: use ask.
    """
    return Observation(text=f"[granted: one call of {what}; a person will see its arguments first]", granted=what)
