"""The tools that know more than one run: skill, remember, recall, forget."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from referee.actions.surround import Forget, Remember
from referee.domain.admission import LONGEST, Said, admit
from referee.domain.memory import MemoryLayer, Origin
from referee.domain.observation import Observation, failed
from referee.domain.risk import Risk
from referee.tools.room import Room
from referee.tools.tool import tool

MOST_LOADED = 3


@tool("knowledge", Risk.READ)
def skill(room: Room, name: Annotated[str, Field(min_length=1, max_length=100)]) -> Observation:
    """Read a skill of the list in full: how such work is done here; three at most. It is advice, the rules come first.

    Not for skills that do not fit the task.
    """
    if name in room.skills:
        return Observation(text=f"[{name} is loaded already, see above]")
    if len(room.skills) >= MOST_LOADED:
        return failed(f"{MOST_LOADED} skills are loaded, which is the most: {', '.join(room.skills)}")
    return Observation(text=f"{room.skill(name)}\n[skill {name}; {len(room.skills) + 1} of {MOST_LOADED}]", skill=name)


@tool("knowledge", Risk.SCRATCH)
def remember(
    room: Room,
    text: Annotated[str, Field(min_length=1, max_length=LONGEST)],
    when: Annotated[str, Field(min_length=1, max_length=300, description="when it will be needed again")],
    cost: Annotated[str, Field(min_length=1, max_length=300, description="what goes wrong without it")],
    topic: Annotated[str, Field(max_length=60, description="one or two words; one memory a topic counts")] = "",
) -> Observation:
    """Propose a lasting fact about this repository for later runs; it counts once a person confirms it.

    Not for this run's conclusions (note), nor for what the files or their history say.
    """
    said = Said(
        text=text, origin=Origin.RUN, source=room.run.id, layer=MemoryLayer.PROJECT, when=when, cost=cost, topic=topic
    )
    admission = admit(said, room.memories, room.today)
    if admission.refused:
        return failed(f"not remembered: {'; '.join(admission.refused)}")
    if admission.memory is None:
        return Observation(text=f"[known already as {admission.same_as}]")
    kept = room.run.perform(Remember(memory=admission.memory))
    against = f"; it may contradict {', '.join(admission.contradicts)}" if admission.contradicts else ""
    return Observation(text=f"[proposed as {kept}; a person decides whether it counts{against}]")


@tool("knowledge", Risk.READ)
def recall(
    room: Room, query: Annotated[str, Field(min_length=1, max_length=300, description="an id, or words")]
) -> Observation:
    """Read what is remembered of this repository and this person, in full, with source and age.

    Not for what the files say: use grep.
    """
    return Observation(text=room.recall(query))


@tool("knowledge", Risk.HOST)
def forget(room: Room, id: Annotated[str, Field(min_length=1, max_length=100)]) -> Observation:
    """Delete a memory that is wrong, by the id that recall names.

    Not for one that is only old: it expires by itself.
    """
    known = {s.memory.id: s.memory.layer for s in room.memories}
    if id not in known:
        return failed(f"there is no memory {id}; recall names those there are")
    gone = room.run.perform(Forget(layer=known[id], memory=id))
    return Observation(text=f"[{id} is forgotten]" if gone else f"[{id} was gone already]")
