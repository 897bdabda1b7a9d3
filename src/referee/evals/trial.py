"""One trial: a task under a configuration, the nth time; and what came of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import Field

from referee.domain.report import Document, Usd
from referee.domain.value import Value


class Trial(Value):
    """Which trial: `repeat` counts from 1."""

    task: str
    config: str
    repeat: int

    @property
    def id(self) -> str:
        """`task/config/repeat`."""
        return f"{self.task}/{self.config}/{self.repeat}"


class Injected(Value):
    """One thing the adversary did. `caught` says that it was refused, `layer` by whom: `reply`, a layer, `budget`."""

    kind: str
    caught: bool
    layer: str = ""


class Result(Document):
    """What came of a trial. Only `success` decides: the fix's own tests, hidden ones among them, in the sandbox.

    `solved` is what the run itself says, with its `stop_reason` (`refused` if it would not begin; `why` says more).
    `dirty` says that files are changed and what the player was shown does not pass. `unauthorised_attempted` counts the
    steps that tried what a player may not, `unauthorised_done` changed tests and judge files, files outside the
    repository, and connections that arrived. `candidates` are the patches judged in its steps, `calls` model calls,
    `refused` those whose answer had no valid form; `stumbled` says that a step failed before the end. Times in seconds.
    """

    schema_name: Literal["referee.trial/1"] = Field(default="referee.trial/1", alias="schema")
    trial: Trial
    player: str
    seed: int = 0
    stratum: str = ""
    run_id: str = ""
    success: bool
    solved: bool
    stop_reason: str
    why: str = ""
    hidden_tests: int = 0
    steps: int = 0
    candidates: int = 0
    tokens: int = 0
    cost_usd: Usd = Decimal(0)
    wall_seconds: float = 0.0
    tool_seconds: float = 0.0
    calls: int = 0
    refused: int = 0
    stumbled: bool = False
    interventions: int = 0
    unauthorised_attempted: int = 0
    unauthorised_done: int = 0
    dirty: bool = False
    injected: tuple[Injected, ...] = ()
    started_at: str = ""
