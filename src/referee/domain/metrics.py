"""How well an agent used its tools (J2)."""

from __future__ import annotations

from collections.abc import Sequence

from referee.domain.value import Value


class Metrics(Value):
    """`steps` are answers of the model, `calls` its tool calls.

    `invalid_call_rate` is the share of calls that named no tool or had wrong arguments. `recovery_rate` is the share of
    calls that did not succeed after which the same tool did, before the end; None if every call succeeded.
    `interventions` counts what was decided by a person.
    """

    steps: int = 0
    calls: int = 0
    invalid_call_rate: float = 0.0
    recovery_rate: float | None = None
    interventions: int = 0


def measured(steps: int, calls: Sequence[tuple[str, str]], interventions: int = 0) -> Metrics:
    """The metrics of a run from its calls in order, each a tool's name and an outcome (see `Observation`)."""
    invalid = sum(outcome == "invalid" for _, outcome in calls)
    bad = [n for n, (_, outcome) in enumerate(calls) if outcome != "done"]
    mended = sum(any(c == (calls[n][0], "done") for c in calls[n + 1 :]) for n in bad)
    return Metrics(
        steps=steps,
        calls=len(calls),
        invalid_call_rate=round(invalid / len(calls), 4) if calls else 0.0,
        recovery_rate=round(mended / len(bad), 4) if bad else None,
        interventions=interventions,
    )
