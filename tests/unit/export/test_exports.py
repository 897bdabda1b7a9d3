"""What other systems get of a run: spans a real collector reads, a trajectory, and what many runs say together."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from referee.adapters import otlp
from referee.domain.errors import WorldFault
from referee.domain.insight import insights
from referee.domain.reason import StopReason
from referee.domain.report import Iteration, Report
from referee.render.spans import trace_of
from referee.render.trajectory import trajectory_of

REPLY = {
    "content": "I will read it", "model": "openai:gpt-5-mini", "finish": "stop", "cost_usd": "0.0021",
    "usage": {"fresh_input": 900, "cache_read": 100, "output": 40},
}  # fmt: skip
LINES: list[dict[str, Any]] = [
    {"n": 1, "at": "2026-01-01T00:00:00.000+00:00", "key": "run:1", "kind": "opened", "action": ""},
    {"n": 2, "at": "2026-01-01T00:00:00.100+00:00", "key": "1:call_model", "kind": "requested", "action": "call_model"},
    {"n": 3, "at": "2026-01-01T00:00:01.100+00:00", "key": "1:call_model", "kind": "ended", "action": "call_model",
     "outcome": "done", "reply": REPLY},
    {"n": 4, "at": "2026-01-01T00:00:01.200+00:00", "key": "2:call_tool", "kind": "requested", "action": "call_tool",
     "call_id": "c1", "tool": "read", "arguments": {"path": "a.py"}},
    {"n": 5, "at": "2026-01-01T00:00:01.300+00:00", "key": "2:call_tool", "kind": "ended", "action": "call_tool",
     "outcome": "done", "observation": "1 line"},
    {"n": 6, "at": "2026-01-01T00:00:01.400+00:00", "key": "3:execute", "kind": "requested", "action": "execute"},
    {"n": 7, "at": "2026-01-01T00:00:02.400+00:00", "key": "3:execute", "kind": "ended", "action": "execute",
     "outcome": "fault"},
    {"n": 8, "at": "2026-01-01T00:00:02.500+00:00", "key": "verdict:1", "kind": "noted", "action": "",
     "text": "step 1", "iteration": {"step": 1, "author": "model", "layer": "L3", "passed": False, "failed": ["t"]}},
]  # fmt: skip


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A real HTTP server on loopback that keeps what is sent to it."""
    kept: list[bytes] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            kept.append(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
            self.send_response(200 if self.path == "/v1/traces" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Taking)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", kept
    server.shutdown()
    server.server_close()


def test_a_collector_reads_the_spans_by_their_usual_names(collector: tuple[str, list[bytes]]) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    address, kept = collector
    assert otlp.send(trace_of("r1", LINES), f"{address}/v1/traces", "0.1.0") == 4
    [spans] = [s.scope_spans[0].spans for s in ExportTraceServiceRequest.FromString(kept[0]).resource_spans]
    by_name = {s.name: s for s in spans}
    assert by_name.keys() == {"invoke_agent referee", "chat gpt-5-mini", "execute_tool read", "execute"}
    root, chat = by_name["invoke_agent referee"], by_name["chat gpt-5-mini"]
    assert all(s.parent_span_id == root.span_id and s.trace_id == root.trace_id for s in spans if s is not root)
    facts = {a.key: a.value for a in chat.attributes}
    assert (facts["gen_ai.operation.name"].string_value, facts["gen_ai.provider.name"].string_value) == (
        "chat",
        "openai",
    )
    assert facts["gen_ai.usage.input_tokens"].int_value == 1_000 and facts["gen_ai.usage.output_tokens"].int_value == 40
    assert chat.end_time_unix_nano - chat.start_time_unix_nano == 1_000_000_000
    [event] = root.events
    judged = {a.key: a.value for a in event.attributes}
    assert event.name == "gen_ai.evaluation.result"
    assert judged["gen_ai.evaluation.score.label"].string_value == "fail"
    assert by_name["execute"].status.message == "fault"


def test_a_collector_that_refuses_is_told_of(collector: tuple[str, list[bytes]]) -> None:
    with pytest.raises(WorldFault, match="did not take the spans"):
        otlp.send(trace_of("r1", LINES), f"{collector[0]}/elsewhere", "0.1.0")


def test_a_trajectory_pairs_calls_and_observations() -> None:
    told = trajectory_of("r1", "mend it", LINES, "0.1.0")
    user, agent, system = told["steps"]
    assert told["schema_version"] == "ATIF-v1.4" and told["session_id"] == "r1"
    assert [s["step_id"] for s in told["steps"]] == [1, 2, 3]
    assert (user["source"], user["message"], system["source"]) == ("user", "mend it", "system")
    assert agent["model_name"] == "openai:gpt-5-mini"
    assert agent["tool_calls"] == [{"tool_call_id": "c1", "function_name": "read", "arguments": {"path": "a.py"}}]
    assert agent["observation"]["results"] == [{"source_call_id": "c1", "content": "1 line"}]
    totals = told["final_metrics"]
    assert (totals["total_prompt_tokens"], totals["total_cached_tokens"], totals["total_cost_usd"]) == (
        1000,
        100,
        0.0021,
    )


def report(number: int, *, solved: bool, fingerprint: str, seconds: float = 10.0) -> Report:
    return Report(
        run_id=f"r{number}", stop_reason=StopReason.SOLVED if solved else StopReason.NON_PROGRESS, solved=solved,
        generator="model", wall_seconds=seconds, tool_seconds=seconds * 0.8, cost_usd=Decimal("0.10"),
        iterations=(Iteration(step=1, author="model", failed=("tests/test_a.py::test_b",), fingerprint=fingerprint),),
    )  # fmt: skip


def test_insights_name_what_recurs_and_what_to_mend_first() -> None:
    many = [report(n, solved=n > 3, fingerprint="same" if n <= 3 else f"own{n}") for n in range(1, 6)]
    calls = [("edit", "invalid")] * 4 + [("edit", "done")] * 8 + [("read", "done")] * 20
    found = insights(many, calls)
    assert (found.runs, found.solved) == (5, 2)
    assert [(r.fingerprint, r.runs) for r in found.recurring] == [("same", 3)]
    assert [(t.tool, t.invalid) for t in found.tools] == [("edit", 4), ("read", 0)]
    assert [(s.name, s.runs, s.usd) for s in found.by_reason] == [
        ("non_progress", 3, Decimal("0.30")),
        ("solved", 2, Decimal("0.20")),
    ]
    assert found.first[0].startswith("3 runs met the same failure (tests/test_a.py::test_b)")
    assert "33% of the calls of edit are invalid" in found.first[1]
    assert insights([]).first == ()
