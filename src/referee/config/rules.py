"""What a repository's file may do to each setting: tighten what the user allows, never loosen it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from referee.config.values import IsolationMode
from referee.domain.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One setting as a repository's file asks for it, on top of what stands so far.

    `by_user` says that the user's own file set what stands; otherwise it is the default.
    """

    key: str
    stands: Any
    by_user: bool
    value: Any


Rule = Callable[[Asked], tuple[Any, str]]
"""The value that stands, and a loud note if that is not simply what was asked for."""


def lower(asked: Asked) -> tuple[Any, str]:
    """A number: at most what the user's file says; above the default only loudly."""
    if asked.value <= asked.stands:
        return asked.value, ""
    if asked.by_user:
        return asked.stands, f"asks for {asked.key} = {asked.value}; your own file allows {asked.stands}, which stands"
    return asked.value, f"raises {asked.key} from {asked.stands} to {asked.value}"


def grow(asked: Asked) -> tuple[Any, str]:
    """A list that only ever gets longer."""
    return (*asked.stands, *(v for v in asked.value if v not in asked.stands)), ""


def narrow(asked: Asked) -> tuple[Any, str]:
    """Patterns of what may be changed: only those that lie within the user's."""
    if not asked.by_user:
        return asked.value, ""
    inside = tuple(p for p in asked.value if any(_within(p, u) for u in asked.stands))
    outside = [p for p in asked.value if p not in inside]
    note = f"asks for {asked.key} {', '.join(outside)}; your own file allows only {', '.join(asked.stands)}"
    return inside or asked.stands, note if outside else ""


def within(asked: Asked) -> tuple[Any, str]:
    """A list of which only that stands which the user allows; nothing is allowed by default."""
    inside = tuple(v for v in asked.value if v in asked.stands)
    outside = [v for v in asked.value if v not in inside]
    note = f"asks for {asked.key} {', '.join(outside)}; only your own file or an option can allow that, it is left out"
    return inside, note if outside else ""


def stricter(asked: Asked) -> tuple[Any, str]:
    """The isolation mode: the stricter of the two."""
    mode: IsolationMode = max(asked.stands, asked.value, key=lambda m: m.rank)
    if mode is asked.value:
        return mode, ""
    return mode, f"asks for {asked.key} = {asked.value}; a repository cannot weaken it, {mode} stands"


def forbid(asked: Asked) -> tuple[Any, str]:
    """A permission: a repository can take it away, never give it."""
    if asked.stands or not asked.value:
        return asked.value, ""
    return False, f"asks for {asked.key}; only your own file or an option can allow that, it is left out"


def asks_more(asked: Asked) -> tuple[Any, str]:
    """What a landing waits for: the stricter of the two, whoever says it."""
    return _kept(asked, max(asked.stands, asked.value, key=lambda before: before.rank))


def more(asked: Asked) -> tuple[Any, str]:
    """A number of people: never fewer."""
    return _kept(asked, max(asked.stands, asked.value))


def less(asked: Asked) -> tuple[Any, str]:
    """A time that something counts for: never longer."""
    return _kept(asked, min(asked.stands, asked.value))


def only_ssh(asked: Asked) -> tuple[Any, str]:
    """Which keys count: SSH keys only, once anybody says so."""
    return _kept(asked, "ssh" if "ssh" in (asked.stands, asked.value) else asked.value)


def _kept(asked: Asked, value: Any) -> tuple[Any, str]:
    note = f"asks for {asked.key} = {asked.value}; a repository cannot weaken it, {value} stands"
    return value, "" if value == asked.value else note


def harder(asked: Asked) -> tuple[Any, str]:
    """How hard a proposal is distrusted: strict once anybody says so."""
    if asked.value == "strict" or asked.stands == asked.value:
        return asked.value, ""
    return asked.stands, f"asks for {asked.key} = {asked.value}; a repository cannot weaken it, {asked.stands} stands"


_LAX = ("read-only", "cautious", "trusted")


def tighter(asked: Asked) -> tuple[Any, str]:
    """What an agent's tools may do: the tighter of the two."""
    if _LAX.index(asked.value) <= _LAX.index(asked.stands):
        return asked.value, ""
    return asked.stands, f"asks for {asked.key} = {asked.value}; a repository cannot allow more, {asked.stands} stands"


def only_tighten(asked: Asked) -> tuple[Any, str]:
    """Rules about tools: a repository's forbid and ask, beside the user's; what it would allow is left out."""
    said = tuple(r.model_copy(update={"only_tightens": True}) for r in asked.value if r.then != "allow")
    allowed = [r.words for r in asked.value if r.then == "allow"]
    note = f"asks for the rule {', '.join(allowed)}; only your own file can allow something, it is left out"
    return (*asked.stands, *said), note if allowed else ""


def give_way(asked: Asked) -> tuple[Any, str]:
    """A choice: the repository's unless the user's file has made it."""
    if not asked.by_user or asked.value == asked.stands:
        return asked.value, ""
    return asked.stands, f"asks for {asked.key} = {asked.value}; your own file says {asked.stands}, which stands"


def land(asked: Asked) -> tuple[Any, str]:
    """Where a result goes: never out of the repository; nowhere is always allowed."""
    if asked.value == "none":
        return asked.value, ""
    if asked.value.startswith(("patch:", "pr")):
        return never(asked)
    return give_way(asked)


def generator(asked: Asked) -> tuple[Any, str]:
    """Who proposes: the free search is always allowed, a command never."""
    if asked.value == "search":
        return asked.value, ""
    return never(asked) if asked.value.startswith("command:") else give_way(asked)


def model(asked: Asked) -> tuple[Any, str]:
    """A model's name, unless it names a file of this machine."""
    return never(asked) if asked.value.startswith(("scripted:", "recorded:", "adversary:")) else give_way(asked)


def python(asked: Asked) -> tuple[Any, str]:
    """An interpreter inside the repository."""
    climbs = asked.value.startswith(("/", "~")) or ".." in asked.value.split("/")
    return never(asked) if climbs else give_way(asked)


def never(asked: Asked) -> tuple[Any, str]:
    """Only for the user to set: it reaches keys, other hosts or files outside the repository."""
    what = asked.key if isinstance(asked.value, tuple) else f"{asked.key} = {asked.value}"
    raise UsageError(
        f"{what} is not for a repository's file to set; "
        f"put it into your own file ('referee doctor' says where) or pass it as an option"
    )


def _within(pattern: str, allowed: str) -> bool:
    """Whether `pattern` plainly names something inside `allowed`; anything cleverer counts as outside."""
    folder = allowed.removesuffix("/**").rstrip("/")
    parts = pattern.split("/")
    if any(c in folder for c in "*?[") or ".." in parts:
        return pattern == allowed
    # Without a slash a pattern matches in every folder, so only the same pattern lies within it.
    return pattern.rstrip("/") == folder or ("/" in pattern and pattern.startswith(folder + "/"))
