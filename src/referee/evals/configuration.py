"""The configurations of the experiment: the same shell with parts switched off, and what limits each."""

from __future__ import annotations

import re

from referee.domain.cost import Budget
from referee.domain.errors import UsageError
from referee.domain.parts import ALL, Parts
from referee.domain.value import Value

UNBOUNDED_STEPS = 16  # where there is no budget, something must end the trial all the same
UNBOUNDED_TIMES = 4
_NONE = Parts(judge=False, gate=False, protection=False, patience=False, rollback=False)
_CHECKS = _NONE.model_copy(update={"judge": True})
MEANINGS = {
    "A": "bare: one proposal, the player's word, nothing checked",
    "B": f"checks only: the loop, ended by {UNBOUNDED_STEPS} steps or {UNBOUNDED_TIMES} times the time of C and D",
    "C": "checks and a budget",
    "D": "everything: also protected paths, the gate, a stop without progress, rollback",
}
_PARTS = {"A": _NONE, "B": _CHECKS, "C": _CHECKS, "D": ALL}


class Configuration(Value):
    """One column of the table. `name` is a letter, or a letter with another number of steps, such as `D@4`."""

    name: str
    parts: Parts
    budget: Budget

    @property
    def letter(self) -> str:
        """A, B, C or D."""
        return self.name[0]


def configurations(text: str, budget: Budget) -> tuple[Configuration, ...]:
    """The configurations that `text` names, comma-separated, under `budget`. Raises `UsageError` for another name."""
    names = [n.strip() for n in text.split(",") if n.strip()]
    if not names or len(set(names)) != len(names):
        raise UsageError(f"--configs {text!r} names nothing, or something twice; for example --configs A,B,C,D,D@4")
    return tuple(_configuration(n, budget) for n in names)


def _configuration(name: str, budget: Budget) -> Configuration:
    found = re.fullmatch(r"([ABCD])(?:@([1-9][0-9]{0,2}))?", name)
    if found is None:
        raise UsageError(f"there is no configuration {name!r}; use A, B, C or D, or with a number of steps, as D@4")
    letter, steps = found.groups()
    update: dict[str, object] = {}
    if letter == "A":
        update = {"max_steps": 1}
    if letter == "B":
        update = {"max_steps": UNBOUNDED_STEPS, "timeout": budget.timeout * UNBOUNDED_TIMES}
    if steps:
        update["max_steps"] = int(steps)
    return Configuration(name=name, parts=_PARTS[letter], budget=budget.model_copy(update=update))
