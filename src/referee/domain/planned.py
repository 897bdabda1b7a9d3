"""What would be checked, and how: `referee.plan/1`. Additive changes only."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.domain.layer import Layer
from referee.domain.report import Document
from referee.domain.value import Value


class PlannedCheck(Value):
    """One check of a layer. `reader` names how its output becomes findings, `seconds` is its limit.

    `cost` is `cheap`, `moderate` or `dear`; `why` says where the check comes from, or why it is left out (`on` is
    False); `not_run` whether being unable to run blocks like a failure or is only told (`allow`).
    """

    layer: Layer
    check: str
    on: bool = True
    command: tuple[str, ...] = ()
    reader: str = ""
    cost: str = ""
    seconds: float = 0.0
    not_run: str = "block"
    why: str = ""


class PlanReport(Document):
    """The checks of a repository, by layer. `ignores` are the findings that do not count, each with its reason."""

    schema_name: Literal["referee.plan/1"] = Field(default="referee.plan/1", alias="schema")
    checks: tuple[PlannedCheck, ...] = ()
    flaky: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
