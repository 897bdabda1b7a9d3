"""What is remembered beyond a run: its values, and which of several memories stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator

from referee.domain.value import Value


def day(text: str) -> str:
    """`text` if it is a day as ISO 8601 writes it. Raises ValueError."""
    if date.fromisoformat(text).isoformat() != text:
        raise ValueError("write a day as 2030-12-31")
    return text


Day = Annotated[str, AfterValidator(day)]
Digest = Callable[[str], str | None]
"""The SHA-256 of a file of the repository as it is, None if there is none."""


class MemoryLayer(StrEnum):
    """Whom a memory is for, the narrower first: this repository, or this person wherever they work."""

    PROJECT = "project"
    PERSON = "person"


class Origin(StrEnum):
    """Where a memory was learned. Only what a person said is taken at its word."""

    PERSON = "person"
    RUN = "run"  # a model said so; what it had read by then is not known to be true
    FILE = "file"  # somebody wrote the file


class Confidence(StrEnum):
    """How sure whoever said it was."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Memory(Value):
    """One remembered statement.

    `source` is the run, file or person it came from, `date` the day it was said and `expires` the first day on which
    it no longer holds (ISO 8601; empty: never). `topic` names what it is about, so that two answers to one question are
    noticed; `supersedes` is the memory that it replaces. `files` are paths it depends on, with their SHA-256: when one
    changes, the memory is stale. `when` says when it is needed again, `cost` what goes wrong without it.
    """

    id: str
    text: str
    layer: MemoryLayer
    origin: Origin
    source: str = ""
    date: Day
    confidence: Confidence = Confidence.MEDIUM
    topic: str = ""
    expires: Day | Literal[""] = ""
    supersedes: str = ""
    files: Mapping[str, str] = {}
    when: str = ""
    cost: str = ""


class Kept(Value):
    """A memory on disk. `digest` is the SHA-256 of its file, `confirmed` who confirmed exactly that, if anybody."""

    memory: Memory
    digest: str
    confirmed: str = ""


class State(StrEnum):
    """Whether a memory counts. Only what is active is ever shown to a model."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"  # nobody has confirmed it as it is now
    EXPIRED = "expired"
    STALE = "stale"  # a file that it depends on has changed
    SUPERSEDED = "superseded"  # an active memory replaces it
    OVERRIDDEN = "overridden"  # an active memory on the same topic comes before it


class Standing(Value):
    """A memory and whether it counts; `by` is the memory that stands in its place, `why` the reason in words."""

    kept: Kept
    state: State
    by: str = ""
    why: str = ""

    @property
    def memory(self) -> Memory:
        """What is remembered."""
        return self.kept.memory


def standing(kept: Sequence[Kept], today: str, digest: Digest) -> tuple[Standing, ...]:
    """Each memory with its state on the day `today`, by layer and id.

    Nobody who is not active overrides or supersedes another: what waits to be confirmed changes nothing.
    """
    ordered = sorted(kept, key=lambda k: (list(MemoryLayer).index(k.memory.layer), k.memory.id))
    alone = [_alone(k, today, digest) for k in ordered]
    live = [s.memory for s in alone if s.state is State.ACTIVE]
    replaced = {m.supersedes: m.id for m in live if m.supersedes and m.supersedes != m.id}
    live = [m for m in live if m.id not in replaced]
    first = {m.topic: m.id for m in sorted(live, key=_weight) if m.topic}
    return tuple(_among(s, replaced, first) for s in alone)


def _alone(kept: Kept, today: str, digest: Digest) -> Standing:
    memory = kept.memory
    if not kept.confirmed:
        how = "nobody has confirmed it as it is now"
        return Standing(kept=kept, state=State.QUARANTINED, why=how)
    if memory.expires and memory.expires <= today:
        return Standing(kept=kept, state=State.EXPIRED, why=f"it held until {memory.expires}")
    changed = [path for path, then in sorted(memory.files.items()) if digest(path) != then]
    if changed:
        return Standing(kept=kept, state=State.STALE, why=f"{', '.join(changed)} changed since")
    return Standing(kept=kept, state=State.ACTIVE)


def _among(standing: Standing, replaced: Mapping[str, str], first: Mapping[str, str]) -> Standing:
    memory = standing.memory
    if standing.state is not State.ACTIVE:
        return standing
    if by := replaced.get(memory.id):
        return standing.model_copy(update={"state": State.SUPERSEDED, "by": by, "why": f"{by} replaces it"})
    by = first.get(memory.topic, memory.id)
    if by != memory.id:
        why = f"{by} is on the same topic and comes first"
        return standing.model_copy(update={"state": State.OVERRIDDEN, "by": by, "why": why})
    return standing


def _weight(memory: Memory) -> tuple[bool, int, str, str]:
    """Of several on one topic, the greatest stands: said by a person, then for the narrower layer, then newer."""
    narrow = -list(MemoryLayer).index(memory.layer)
    return memory.origin is Origin.PERSON, narrow, memory.date, memory.id
