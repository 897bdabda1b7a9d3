"""Versions that exist and go together, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping

from referee.domain.value import Value


class Conflict(Value):
    """Requirements that cannot all be met, and the resolver's reason."""

    requirements: tuple[str, ...]
    why: str


class Resolution(Value):
    """`resolved` versions by name, empty if there is a conflict; `changed` are those that differ from the pins there.

    Each change is (before, after); an empty text means that there was or is none. `notes` say what was left out,
    `written` which files were changed.
    """

    resolved: Mapping[str, str] = {}
    conflicts: tuple[Conflict, ...] = ()
    changed: Mapping[str, tuple[str, str]] = {}
    notes: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """What changes between two sets of pins, by name; names only in one of them count if there were pins at all."""
    if not before:
        return {}
    names = sorted(before.keys() | after.keys())
    return {n: (before.get(n, ""), after.get(n, "")) for n in names if before.get(n) != after.get(n)}
