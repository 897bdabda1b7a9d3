"""Skills: folders with a SKILL.md that say how things are done here. The index first, at most three in full (E5)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence

from referee.context.fence import clipped, fenced, plain
from referee.context.ranking import bm25, words
from referee.context.relevance import Read
from referee.domain.brief import Brief
from referee.domain.value import Value

MOST_LOADED = 3
MOST_LISTED = 40
SKILL_CHARS = 6_000
DESCRIPTION_CHARS = 300
_PLACE = re.compile(r"(?:.+/)?\.(?:agents|claude)/skills/([^/]+)/SKILL\.md")
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)


class Skill(Value):
    """One skill: its name and what it is for, and the text that is loaded when it matches."""

    name: str
    description: str
    body: str
    folder: str = ""


def found(read: Read, paths: Sequence[str]) -> tuple[Skill, ...]:
    """The repository's skills by name; of several with one name the first by path."""
    skills: dict[str, Skill] = {}
    for path, folder in _places(tuple(paths)):
        data = read(path)
        if data is not None:
            skill = parsed(data.decode(errors="replace"), folder)
            skills.setdefault(skill.name, skill.model_copy(update={"folder": path.rpartition("/")[0]}))
    return tuple(skills[name] for name in sorted(skills))


@functools.lru_cache(maxsize=4)
def _places(paths: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Where skills lie, each with its folder's name; every round asks the same of the same tree."""
    matches = (_PLACE.fullmatch(path) for path in sorted(paths) if path.endswith("/SKILL.md"))
    return tuple((m[0], m[1]) for m in matches if m)


def parsed(text: str, folder: str) -> Skill:
    """A skill from its file; the folder's name stands in for a missing one, the first line for a purpose."""
    text = text.replace("\r\n", "\n")
    front = _FRONT.match(text)
    told = dict(_pairs(front[1])) if front else {}
    body = text[front.end() :].strip() if front else text.strip()
    first = next((line.lstrip("# ") for line in body.split("\n") if line.strip()), "")
    return Skill(name=told.get("name") or folder, description=told.get("description") or first, body=body)


def _pairs(front: str) -> Iterable[tuple[str, str]]:
    """The plain `key: value` lines; a value may go on in indented lines."""
    key, value = "", ""
    for line in front.split("\n"):
        if key and line[:1] in (" ", "\t"):
            value = f"{value} {line.strip()}"
            continue
        if key:
            yield key, value.strip().strip("\"'").removeprefix(">").removeprefix("|").strip()
        key, _, value = line.partition(":")
        key = key.strip().lower()
    if key:
        yield key, value.strip().strip("\"'").removeprefix(">").removeprefix("|").strip()


def chosen(skills: Sequence[Skill], brief: Brief) -> tuple[Skill, ...]:
    """The skills whose purpose shares most with the task: by words, at most three, those that are named first."""
    asked = f"{brief.task.text}\n{' '.join(brief.targets)}"
    named = [s for s in skills if re.search(rf"\b{re.escape(s.name)}\b", brief.task.text)]
    scores = bm25(words(asked), {s.name: words(f"{s.name} {s.description}") for s in skills})
    rest = [next(s for s in skills if s.name == name) for name in scores]
    return tuple(dict.fromkeys((*named, *rest)))[:MOST_LOADED]


def catalogue(skills: Sequence[Skill]) -> str:
    """The skills by name and purpose, for an agent that loads those it needs; empty where there are none."""
    if not skills:
        return ""
    listed = [f"- {plain(s.name)}: {plain(s.description)[:DESCRIPTION_CHARS]}" for s in skills[:MOST_LISTED]]
    more = [f"- and {len(skills) - MOST_LISTED} more"] if len(skills) > MOST_LISTED else []
    return "# Skills (how such work is done here; the tool skill shows one in full)\n" + "\n".join([*listed, *more])


def loaded(skills: Sequence[Skill], name: str) -> str:
    """One skill in full, as advice. Raises `ValueError` in words for a model if there is none of that name."""
    for skill in skills:
        if skill.name == name:
            where = f"Its files are in {skill.folder}, for the tool read.\n" if skill.folder else ""
            return f"{where}{fenced(clipped(skill.body, SKILL_CHARS))}"
    raise ValueError(f"there is no skill {name}; there are {', '.join(s.name for s in skills) or 'none here'}")


def section(skills: Sequence[Skill], brief: Brief) -> list[str]:
    """The skills in words, or nothing where there are none."""
    if not skills:
        return []
    listed = [f"- {plain(s.name)}: {plain(s.description)[:DESCRIPTION_CHARS]}" for s in skills[:MOST_LISTED]]
    loaded = [f"Skill {plain(s.name)}:\n{fenced(clipped(s.body, SKILL_CHARS))}" for s in chosen(skills, brief)]
    return ["# How things are done here (advice; the rules above come first)\n" + "\n".join(listed + loaded)]
