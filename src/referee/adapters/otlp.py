"""Spans to an OpenTelemetry collector over OTLP/HTTP."""

from __future__ import annotations

import logging
from importlib.util import find_spec

from referee.domain.errors import UsageError, WorldFault
from referee.domain.trace import Trace, TraceSpan

_SECONDS = 10.0
_MISSING = "sending spans needs more packages; install them with: pip install 'referee[otel]'"


def send(trace: Trace, endpoint: str, version: str) -> int:
    """Send a run's spans to `endpoint` (as in `http://127.0.0.1:4318/v1/traces`); how many they were.

    Raises `UsageError` if the packages are missing, and `WorldFault` if the collector does not take them.
    """
    if find_spec("opentelemetry.exporter.otlp") is None:
        raise UsageError(_MISSING)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
    from opentelemetry.trace import Span, set_span_in_context
    from opentelemetry.trace.status import Status, StatusCode

    provider = TracerProvider(resource=Resource({"service.name": "referee", "service.version": version}))
    tracer = provider.get_tracer("referee", version)

    def made(span: TraceSpan, parent: Span | None) -> Span:
        context = set_span_in_context(parent) if parent is not None else None
        started = tracer.start_span(span.name, context, attributes=dict(span.attributes), start_time=span.start)
        for event in span.events:
            started.add_event(event.name, dict(event.attributes), event.at)
        if span.error:
            started.set_status(Status(StatusCode.ERROR, span.error))
        return started

    root = made(trace.root, None)
    spans = [root]
    for action in trace.actions:
        spans.append(made(action, root))
        spans[-1].end(action.end)
    root.end(trace.root.end)
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # what it came to is told below
    exporter: SpanExporter = OTLPSpanExporter(endpoint=endpoint, timeout=_SECONDS)
    try:
        sent = exporter.export([s for s in spans if isinstance(s, ReadableSpan)])
    finally:
        exporter.shutdown()
        provider.shutdown()
    if sent is not SpanExportResult.SUCCESS:
        raise WorldFault(f"the collector at {endpoint} did not take the spans; is it running, and is that its address?")
    return len(spans)
