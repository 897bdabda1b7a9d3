"""A tool call of a model: ruled on as a whole, then done as a series of actions of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import TypeAdapter

from referee.domain.finding import Finding
from referee.domain.observation import Observation, denied
from referee.domain.risk import Risk
from referee.kernel.action import Action, Effect
from referee.ports import World


class CallTool(Action[Observation]):
    """One call, by its id. What it does to the world are actions within it; see `Run.within`."""

    name: ClassVar[str] = "call_tool"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[type] = Observation

    call_id: str
    tool: str
    arguments: str
    risk: Risk
    granted: bool = False  # a person allowed this one

    @property
    def facts(self) -> Mapping[str, Any]:
        """Who reads the journal sees the call itself."""
        return {"call_id": self.call_id, "tool": self.tool, "arguments": self.given, "risk": self.risk.value}

    @property
    def given(self) -> Any:
        """The arguments as a value; as text where they are no JSON."""
        try:
            return json.loads(self.arguments)
        except ValueError:
            return self.arguments

    def perform(self, world: World) -> Observation:
        """A call is performed part by part."""
        raise TypeError("a tool call is performed within the run, not by itself")


_FINDINGS = TypeAdapter(tuple[Finding, ...])


def observed(outcome: str, result: str) -> str:
    """What a model was told of a call, from the recorded ending of the call."""
    if outcome == "rejected":
        return denied(_FINDINGS.validate_json(result)).text
    return Observation.model_validate_json(result).text if outcome == "done" else ""
