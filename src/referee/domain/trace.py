"""What a tracing system is told of a run."""

from __future__ import annotations

from collections.abc import Mapping

from referee.domain.value import Value

Attributes = Mapping[str, str | int | float | bool | tuple[str, ...]]


class SpanEvent(Value):
    """Something that happened at one moment of a span; `at` in nanoseconds since the epoch."""

    name: str
    at: int
    attributes: Attributes


class TraceSpan(Value):
    """One span; `error` is why it failed. Times in nanoseconds since the epoch."""

    name: str
    start: int
    end: int
    attributes: Attributes
    events: tuple[SpanEvent, ...] = ()
    error: str = ""


class Trace(Value):
    """The span of a run, and those of its actions under it."""

    root: TraceSpan
    actions: tuple[TraceSpan, ...] = ()
