"""`referee doctor --attack`: every attack on the sandbox that a run would use on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.adapters.sandbox.backends import BACKENDS
from referee.adapters.sandbox.choice import choose
from referee.domain.errors import WorldFault


def attack(tell: Callable[[str, str, str], None] | None = None) -> dict[str, Any]:
    """Attack, and give the document of `referee doctor --attack --json`. `tell` hears of each attack as it ends:
    its name, `stopped`, `escaped` or `not tried`, and what it achieved. Raises `WorldFault` if nothing isolates fully.
    """
    from referee.adapters.sandbox.attacks import ATTACKS, Outcome, campaign

    chosen = choose(allow_degraded=False).chosen
    if not chosen:
        raise WorldFault("nothing on this machine isolates fully, so there is nothing to attack; see 'referee doctor'")

    def heard(outcome: Outcome) -> None:
        if tell is not None:
            tell(outcome.name, _how(outcome.tried, outcome.stopped), _words(outcome.said, outcome.left))

    sandbox = BACKENDS[chosen].open()
    try:
        outcomes = campaign(sandbox, ATTACKS.values(), tell=heard)
        level = sandbox.isolation.level
    finally:
        sandbox.close()
    attacks = [
        {"name": o.name, "promise": o.promise, "outcome": _how(o.tried, o.stopped), "said": _words(o.said, o.left)}
        for o in outcomes
    ]
    return {"backend": chosen, "level": level.value, "attacks": attacks}


def _words(said: str, left: tuple[str, ...]) -> str:
    return "; ".join([*([said] if said else []), *(f"could not be removed: {what}" for what in left)])


def _how(tried: bool, stopped: bool) -> str:
    if not tried:
        return "not tried"
    return "stopped" if stopped else "escaped"
