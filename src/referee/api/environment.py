"""What a run began with outside its repository, so that a changed machine is not taken for a fault of ours."""

from __future__ import annotations

import json
import platform

from referee import __version__
from referee.domain.errors import Diverged, UsageError
from referee.ports import Kind
from referee.wiring import Desk

MOST_SAID = 6


def surroundings(desk: Desk) -> dict[str, str]:
    """The versions of all that the judge's commands depend on, by name."""
    found = {"referee": __version__, "the system": platform.platform()}
    try:
        interpreter = desk.interpreter()
    except UsageError as unusable:
        return {**found, "Python": str(unusable)}
    python = {"Python": f"{interpreter.version} at {interpreter.executable}"}
    return {**found, **python, **interpreter.distributions}


def remembered(desk: Desk, run_id: str) -> str:
    """The blob that keeps the surroundings in which the run began; kept now if this is its beginning."""
    for entry in desk.store.entries(run_id):
        if entry.kind is Kind.OPENED and "environment" in (facts := json.loads(entry.payload)):
            return str(facts["environment"])
    return desk.store.put(json.dumps(surroundings(desk), sort_keys=True).encode())


def explained(desk: Desk, run_id: str, diverged: Diverged) -> Diverged | UsageError:
    """Why a replay took another path: what changed on this machine since the run began, or a fault of ours."""
    before: dict[str, str] = json.loads(desk.store.get(remembered(desk, run_id)))
    now = surroundings(desk)
    changed = [n for n in sorted(before.keys() | now.keys()) if before.get(n) != now.get(n)]
    if not changed:
        return diverged
    words = [f"{n} was {before.get(n, 'not there')}, is {now.get(n, 'not there')}" for n in changed[:MOST_SAID]]
    if len(changed) > MOST_SAID:
        words.append(f"{len(changed) - MOST_SAID} more changes")
    return UsageError(
        f"run {run_id} cannot be resumed: what it had judged was judged elsewhere ({'; '.join(words)}); "
        "put that back, or start a new run with `referee fix`"
    )
