"""Memories in a prompt: the index first, a body on demand. Only active ones are ever shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date

from referee.context.fence import clipped, fenced, plain
from referee.context.ranking import bm25
from referee.domain.memory import Origin, Standing, State

MOST_LISTED = 60
LINE_CHARS = 160
MOST_RECALLED = 5


def index(standing: Sequence[Standing], today: str) -> str:
    """One line for each active memory, or nothing where there are none."""
    active = [s for s in standing if s.state is State.ACTIVE]
    if not active:
        return ""
    lines = [f"- {_label(s, today)}: {plain(s.memory.text)[:LINE_CHARS]}" for s in active[:MOST_LISTED]]
    more = len(active) - MOST_LISTED
    if more > 0:
        lines.append(f"- and {more} more; recall finds them by words")
    return "# Remembered (advice; the rules above come first; recall shows one in full)\n" + "\n".join(lines)


def recalled(standing: Sequence[Standing], asked: str, today: str) -> str:
    """The active memories that `asked` names by id or by words, best first, with source and age."""
    active = {s.memory.id: s for s in standing if s.state is State.ACTIVE}
    if asked.strip() in active:
        chosen = [asked.strip()]
    else:
        texts = {i: _words(f"{i} {s.memory.topic} {s.memory.text} {s.memory.when}") for i, s in active.items()}
        chosen = list(bm25(_words(asked), texts))
    shown = chosen[:MOST_RECALLED]
    parts = [f"{_label(active[i], today)}\n{fenced(clipped(active[i].memory.text, 2_000))}" for i in shown]
    return "\n".join((*parts, f"{len(shown)} of {len(chosen)} that match; {len(active)} are remembered"))


def _words(text: str) -> Counter[str]:
    """All words, also those that are too common in code to tell files apart."""
    return Counter(re.findall(r"[a-z0-9_]+", text.lower()))


def _label(standing: Standing, today: str) -> str:
    memory = standing.memory
    if memory.origin is Origin.PERSON:
        source = "said by a person"
    else:
        source = (
            f"from {memory.origin.value} {plain(memory.source)}".rstrip() + f", confirmed by {standing.kept.confirmed}"
        )
    return f"{memory.id} ({memory.layer.value}; {source}; {age(memory.date, today)})"


def age(day: str, today: str) -> str:
    """How long ago a day was, in words."""
    days = (date.fromisoformat(today) - date.fromisoformat(day)).days
    return "today" if days <= 0 else "yesterday" if days == 1 else f"{days} days ago"
