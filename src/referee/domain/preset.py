"""Kinds of work: what each starts from, and what no harness should be asked to do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any

from referee.domain.errors import UsageError


class PresetName(StrEnum):
    """The kind of work of a run."""

    BUGFIX = "bugfix"
    TYPES = "types"
    DEPS = "deps"
    LINT = "lint"
    SCAFFOLD = "scaffold"
    TESTS = "tests"


# What differs from the general defaults, where nobody set it, by a setting's name.
DEFAULTS: Mapping[PresetName, Mapping[str, Any]] = {
    PresetName.TYPES: {"budget.max_steps": 12, "budget.max_cost_usd": Decimal("1.00"), "budget.timeout": 480.0},
    PresetName.TESTS: {"budget.timeout": 480.0},
    PresetName.DEPS: {"budget.max_steps": 12, "budget.max_cost_usd": Decimal("1.00"), "budget.timeout": 480.0},
}
SLOWEST = 60.0  # seconds; a check that takes longer is no basis for a loop
PLAIN_EDIT = 3  # changed lines; with fewer, and no test to tell, an editor is quicker than a harness

_OUTSIDE = {
    "git": ("push",), "npm": ("publish",), "yarn": ("publish",), "pnpm": ("publish",), "cargo": ("publish",),
    "twine": ("upload",), "gh": ("release", "pr"), "kubectl": ("apply", "delete"), "terraform": ("apply", "destroy"),
    "docker": ("push",), "helm": ("install", "upgrade", "uninstall"), "alembic": ("upgrade", "downgrade"), "aws": (),
    "gcloud": (), "az": (), "psql": (), "mysql": (), "ssh": (), "scp": (), "rsync": (), "sendmail": (), "mail": (),
}  # fmt: skip
_DEED = re.compile(
    r"^(please\s+)?(deploy|publish|release|send|e-?mail|tweet|pay|refund|charge|drop|truncate|purge|wipe)\b.*"
    r"\b(production|prod|live|customers?|users|table|database|servers?|cluster|registry|everyone|bucket)\b",
    re.IGNORECASE,
)  # fmt: skip
# Words of somebody who describes a fault, and does not ask for the deed itself.
_FAULT = re.compile(
    r"\b(fail\w*|errors?|bugs?|wrong\w*|broken|breaks?|crash\w*|should|must|instead|when|if|after|before|tests?|"
    r"not|never|twice|slow\w*|raises?|returns?)\b",
    re.IGNORECASE,
)
_FILE = re.compile(r"(?<![\w/.-])((?:[\w-]+/)*[\w-]+\.py)\b")


def refuse(text: str, targets: Sequence[str]) -> None:
    """Raise `UsageError` for work that reaches other systems and cannot be taken back: checks only look."""
    for target in targets:
        words = _words(target)
        verbs = _OUTSIDE.get(words[0].rpartition("/")[2]) if words else None
        if verbs is not None and (not verbs or any(v in words[1:] for v in verbs)):
            raise UsageError(
                f"--target {target!r} acts on another system, which no run can take back; name a check that only "
                "looks, and see `referee propose` for what a person signs"
            )
    if not targets and _DEED.search(text.strip()) and not _FAULT.search(text):
        raise UsageError(
            "this asks for an effect on another system that no run can take back; a repair changes files of the "
            "repository only. `referee propose` has such things done once a person has signed them"
        )


def made(text: str, paths: Sequence[str]) -> tuple[str, ...]:
    """The Python files a scaffold's task asks for. Raises `UsageError` where it names none that is missing."""
    there = set(paths)
    named = [m[1] for m in _FILE.finditer(text)]
    missing = tuple(dict.fromkeys(n for n in named if n not in there))
    if not missing:
        what = f"{', '.join(named)} exists already" if named else "the task names no file"
        raise UsageError(
            f"{what}, so nothing says when the scaffold is done; name each file to make, such as src/shop/payments.py, "
            "or give --target a check that fails now"
        )
    return missing


def _words(target: str) -> list[str]:
    try:
        return shlex.split(target)
    except ValueError:
        return []
