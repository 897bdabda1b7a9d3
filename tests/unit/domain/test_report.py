"""The public report: the contract's keys stay, numbers stay numbers, and it survives JSON."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.reason import StopReason
from referee.domain.report import Iteration, Landed, Report, check_report, exit_code, iteration
from referee.domain.verdict import CheckResult, CheckState, Verdict

REPORT_KEYS = {
    "schema", "run_id", "task", "targets", "stop_reason", "solved", "steps", "candidates_judged", "tokens", "cost_usd",
    "tool_seconds", "wall_seconds", "generator", "isolation", "touched_files", "landed", "iterations",
}  # fmt: skip
ITERATION_KEYS = {
    "step", "author", "layer", "exit_code", "killed_by", "failed", "fingerprint", "feedback_chars", "duration_ms",
    "touched",
}  # fmt: skip


def test_report_has_the_contract_s_keys() -> None:
    report = Report(
        run_id="r",
        stop_reason=StopReason.SOLVED,
        solved=True,
        cost_usd=Decimal("0.0174"),
        landed=Landed(how="tree"),
        iterations=(Iteration(step=1, author="search", layer=Layer.TARGET),),
    )
    found = json.loads(report.model_dump_json())
    assert found["schema"] == "referee.report/1"
    assert found.keys() >= REPORT_KEYS
    assert found["iterations"][0].keys() >= ITERATION_KEYS
    assert found["iterations"][0]["layer"] == "L3"
    assert found["landed"] == {"how": "tree", "revision": None}
    assert found["cost_usd"] == 0.0174 and found["budget"]["max_cost_usd"] == 0.5
    assert Report.model_validate_json(report.model_dump_json()) == report


def test_json_schema_requires_no_more_than_it_did() -> None:
    schema = Report.model_json_schema()
    assert set(schema["required"]) == {"run_id", "stop_reason", "solved"}
    assert schema["properties"]["schema"]["const"] == "referee.report/1"


@pytest.mark.parametrize("reason", list(StopReason))
def test_every_reason_has_an_exit_code(reason: StopReason) -> None:
    assert exit_code(reason) in (0, 1, 4, 69, 130)
    assert (exit_code(reason) == 0) == (reason is StopReason.SOLVED)


def test_iteration_from_a_verdict() -> None:
    findings = (Finding(check="pytest", id="t::a", message="m"), Finding(check="pytest", id="t::a", message="n"))
    verdict = Verdict(
        author="search", proposed=True, passed=False, layer=Layer.TARGET, findings=findings, feedback="abc", judged=40
    )
    row = iteration(2, verdict)
    assert (row.step, row.failed, row.feedback_chars, row.candidates_judged) == (2, ("t::a",), 3, 40)


def test_check_report_needs_something_that_ran() -> None:
    """Not run is never passed (D3), and nothing at all is not passed either."""
    good = CheckResult(check="ruff", layer=Layer.FORMAT, state=CheckState.PASS)
    missing = CheckResult(check="mypy", layer=Layer.TYPES, state=CheckState.NOT_RUN, note="mypy is missing")
    assert check_report((good,), "").passed
    assert not check_report((good, missing), "").passed
    assert not check_report((), "").passed


def test_check_report_keys() -> None:
    finding = Finding(check="ruff", id="a.py:1", path="a.py", line=1, rule="F401", message="unused")
    failed = CheckResult(check="ruff", layer=Layer.FORMAT, state=CheckState.FAIL, findings=(finding,), duration_ms=3)
    found = json.loads(check_report((failed,), "fix it").model_dump_json())
    assert found["schema"] == "referee.check/1" and found["passed"] is False and found["feedback"] == "fix it"
    assert found["layers"][0].items() >= {"layer": "L0", "check": "ruff", "state": "fail", "duration_ms": 3}.items()
    assert found["findings"] == [
        {"check": "ruff", "id": "a.py:1", "path": "a.py", "line": 1, "rule": "F401", "message": "unused"}
    ]
