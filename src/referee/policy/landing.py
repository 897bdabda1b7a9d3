"""A person is asked before a result reaches the user's files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.actions.accept import AcceptUnjudged
from referee.actions.tree import LandCommit, LandTree
from referee.domain.question import Asking, Demand
from referee.domain.value import Value
from referee.kernel.action import Action
from referee.kernel.policy import Ask, Policy, Ruling


class Landings(Value):
    """How a person is asked about a landing: for an approval or a signature, of what kind, and for how long."""

    kind: Asking
    requester: str
    demand: Demand = Demand()
    seconds: float = 86_400.0


def ask_before_landing(landings: Landings, diff: Callable[[str, str], bytes]) -> Policy:
    """Ask about every landing; the whole diff is shown. `diff` is between two content-addressed trees."""

    def ruling(action: Action[Any]) -> Ruling | None:
        if not isinstance(action, LandTree | LandCommit):
            return None
        change = diff(action.before, action.after).decode("utf-8", "surrogateescape")
        added, removed, files = _counted(change)
        where = _where(action)
        impact = f"{files} file{'s' if files != 1 else ''}, {added} lines added, {removed} removed"
        return Ask(
            kind=landings.kind,
            summary=f"land a change on {where}: {impact}",
            shown=_shown(action, where, impact, change),
            requester=landings.requester,
            tree=action.before,
            demand=landings.demand if landings.kind is Asking.SIGNATURE else Demand(),
            seconds=landings.seconds,
        )

    return ruling


def ask_about_unjudged(landings: Landings, diff: Callable[[str, str], bytes]) -> Policy:
    """Ask about a change that nothing could judge, unless its landing is asked about anyway."""

    def ruling(action: Action[Any]) -> Ruling | None:
        if not isinstance(action, AcceptUnjudged) or action.later:
            return None
        change = diff(action.before, action.after).decode("utf-8", "surrogateescape")
        added, removed, files = _counted(change)
        impact = f"{files} file{'s' if files != 1 else ''}, {added} lines added, {removed} removed"
        return Ask(
            kind=landings.kind,
            summary=f"take a change that no check can judge: {impact}",
            shown=f"No check can judge this change: {impact}.\n\n{change}",
            requester=landings.requester,
            tree=action.before,
            seconds=landings.seconds,
        )

    return ruling


def _where(action: LandTree | LandCommit) -> str:
    if isinstance(action, LandTree):
        return "your working tree"
    return f"the new branch {action.commit.branch}" if action.commit.branch else "the current branch, as a commit"


def _shown(action: LandTree | LandCommit, where: str, impact: str, change: str) -> str:
    head = f"Land on {where}: {impact}.\nFrom tree {action.before}\nto tree   {action.after}\n"
    if isinstance(action, LandCommit):
        head += f"\nCommit message:\n\n{action.commit.message.strip()}\n"
    return f"{head}\n{change}"


def _counted(diff: str) -> tuple[int, int, int]:
    """Lines added, lines removed and files, by the hunks of a git patch."""
    added = removed = files = 0
    inside = False
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            files, inside = files + 1, False
        elif line.startswith("@@"):
            inside = True
        elif inside and line[:1] in "+-":
            added, removed = added + (line[:1] == "+"), removed + (line[:1] == "-")
    return added, removed, files
