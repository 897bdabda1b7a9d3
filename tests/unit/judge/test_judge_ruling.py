"""The ruling is pure: from a report, however odd, to pass, fail or not run (D3)."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest

from referee.domain.finding import FindingKind
from referee.domain.layer import Layer
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import compress, ruling, stream
from referee.judge.evidence import Evidence, Expected, Known
from referee.testing import ended

KEY = b"k" * 32
A, B = "tests/test_a.py::test_a", "tests/test_a.py::test_b"


def _sign(data: bytes) -> bytes:
    return hmac.new(KEY, data, hashlib.sha256).hexdigest().encode()


def channel(frames: list[tuple[str, Any]]) -> bytes:
    lines = [json.dumps([n, kind, body]).encode() for n, (kind, body) in enumerate(frames)]
    return b"".join(_sign(line) + b" " + line + b"\n" for line in lines)


def canary(n: int) -> str:
    return f"tests/test_a.py::test_{_sign(f'name:canary {n}'.encode()).decode()[:10]}"


def phases(test: str, outcome: str = "passed", raised: str | None = None, **more: Any) -> list[tuple[str, Any]]:
    call = [test, "call", outcome, raised, more.get("xfail", False), 1]
    return [
        ("start", test), ("phase", [test, "setup", "passed", None, False, 1]), ("phase", call),
        ("phase", [test, "teardown", "passed", None, False, 1]),
    ]  # fmt: skip


def run(
    *middle: list[tuple[str, Any]], exit_code: int = 1, collected: tuple[str, ...] = (A, B)
) -> list[tuple[str, Any]]:
    ids = [canary(0), *collected, canary(1)]
    frames: list[tuple[str, Any]] = [("hello", {}), ("collected", ids)]
    frames += phases(canary(0), "failed", "AssertionError")
    for part in middle:
        frames += part
    frames += phases(canary(1), "failed", "AssertionError")
    imports = {"own": [], "foreign": {}}
    return [*frames, ("finish", {"exit": exit_code, "imports": imports}), ("end", exit_code)]


def rule(frames: list[tuple[str, Any]] | bytes, exit_code: int | None = 1, **more: Any) -> CheckResult:
    raw = frames if isinstance(frames, bytes) else channel(frames)
    execution = ended(exit_code or 0).model_copy(
        update={"channel": raw, "key": KEY, "exit_code": exit_code, **more.pop("execution", {})}
    )
    expected = more.pop("expected", Expected(ids=(A, B)))
    return ruling.rule(Evidence(check="pytest", layer=Layer.TARGET, execution=execution, expected=expected, **more))


GOOD = run(phases(A), phases(B))


def test_all_as_it_should_be_is_a_pass() -> None:
    result = rule(GOOD)
    assert result.state is CheckState.PASS
    assert result.passed_ids == (A, B)


@pytest.mark.parametrize("n", range(len(GOOD)))
def test_a_stream_without_any_one_frame_is_no_pass(n: int) -> None:
    frames = GOOD[:n] + GOOD[n + 1 :]
    if GOOD[n][0] == "start":
        assert rule(frames).state is CheckState.PASS  # only names a death
    else:
        assert rule(frames).state is not CheckState.PASS


@pytest.mark.parametrize("n", range(1, 400, 7))
def test_a_stream_cut_anywhere_is_no_pass(n: int) -> None:
    assert rule(channel(GOOD)[:-n]).state is not CheckState.PASS


@pytest.mark.parametrize("n", range(0, 2_000, 97))
def test_a_stream_with_any_changed_byte_is_no_pass(n: int) -> None:
    raw = bytearray(channel(GOOD))
    raw[n] ^= 1
    assert rule(bytes(raw)).state is not CheckState.PASS


def test_frames_in_another_order_or_twice_are_forged() -> None:
    """Case B2."""
    lines = channel(GOOD).splitlines(keepends=True)
    for changed in (lines[::-1], [*lines, lines[-1]], [*lines[:5], lines[4], *lines[5:]]):
        result = rule(b"".join(changed))
        assert FindingKind.TAMPER in {f.kind for f in result.findings}


@pytest.mark.parametrize("exit_code", [0, 2, 3, 4, 5, None])
def test_another_exit_code_than_reported_is_no_pass(exit_code: int | None) -> None:
    """Case H5: and exit code 5 is none either."""
    assert rule(GOOD, exit_code).state is not CheckState.PASS


@pytest.mark.parametrize("exit_code", [0, 2, 3, 4, 5])
def test_only_exit_code_1_is_right_with_tests_that_must_fail(exit_code: int) -> None:
    frames = run(phases(A), phases(B), exit_code=exit_code)
    assert rule(frames, exit_code).state is CheckState.FAIL


@pytest.mark.parametrize("outcome", ["skipped", "failed"])
def test_an_expected_test_must_pass(outcome: str) -> None:
    result = rule(run(phases(A, outcome), phases(B)))
    assert [f.id for f in result.findings] == [A]


def test_a_report_that_says_passed_of_what_raised_is_not_believed() -> None:
    assert rule(run(phases(A, "passed", "AssertionError"), phases(B))).state is CheckState.FAIL


def test_a_test_reported_both_passed_and_failed_failed() -> None:
    """Case H10: the worst outcome of an id wins."""
    assert rule(run(phases(A), phases(A, "failed", "ValueError"), phases(B))).state is CheckState.FAIL


def test_a_canary_that_passes_is_tampering() -> None:
    frames = [(k, [*b[:2], "passed", None, *b[4:]] if k == "phase" and b[0] == canary(0) else b) for k, b in GOOD]
    assert FindingKind.TAMPER in {f.kind for f in rule(frames).findings}


def test_tampering_that_the_unpatched_tree_did_too_is_not_held_against_a_patch() -> None:
    frames = run([("tamper", ["sys._getframe", "mod.py"])], phases(A), phases(B))
    assert rule(frames).state is CheckState.FAIL
    assert rule(frames, known=Known(tampering=(("sys._getframe", "mod.py"),))).state is CheckState.PASS


def test_nothing_reported_is_not_run() -> None:
    """Case H14: never a pass, and not the code's failure."""
    result = rule(b"", 1, execution={"stderr": b"No module named pytest\n"})
    assert result.state is CheckState.NOT_RUN
    assert {f.kind for f in result.findings} == {FindingKind.NOT_RUN}
    assert "No module named pytest" in compress([result])


def test_a_killed_run_is_a_failure_that_names_its_test() -> None:
    frames = run(phases(A), [("start", B)])[:11]
    result = rule(frames, None, execution={"killed_by": "memory"})
    assert result.state is CheckState.FAIL
    assert result.killed_by == "memory"
    assert [f.id for f in result.findings] == [B]
    assert "memory" in compress([result])


WHOLE = Expected(ids=(A,), whole=True)


@pytest.mark.parametrize(
    ("before", "now", "state"),
    [
        ("failed", "failed", CheckState.PASS),
        ("failed", "passed", CheckState.PASS),
        ("failed", "skipped", CheckState.PASS),
        ("passed", "failed", CheckState.FAIL),
        ("passed", "skipped", CheckState.FAIL),
        ("skipped", "skipped", CheckState.PASS),
        ("skipped", "failed", CheckState.FAIL),
    ],
)
def test_a_suite_is_never_worse_than_it_was(before: str, now: str, state: CheckState) -> None:
    known = Known(outcomes={A: "failed", B: before})
    error = {"type": "E", "message": "m", "frames": [], "library": None}
    fail = [("fail", {"id": B, "when": "call", "error": error, "output": {}})] if now == "failed" else []
    frames = run(phases(A), phases(B, now, "E" if now == "failed" else None), fail)
    result = rule(frames, expected=WHOLE, known=known)
    assert result.state is state
    assert bool(result.known) == (before == now == "failed")


def test_tests_that_vanish_from_a_suite_are_missed() -> None:
    """Case H7."""
    result = rule(run(phases(A), collected=(A,)), expected=WHOLE, known=Known(outcomes={A: "failed", B: "passed"}))
    assert [(f.id, f.error) for f in result.findings] == [(B, "missing")]


def test_known_flaky_tests_are_not_counted() -> None:
    known = Known(outcomes={A: "failed", B: "passed"})
    frames = run(phases(A), phases(B, "failed", "E"))
    assert rule(frames, expected=WHOLE, known=known).state is CheckState.FAIL
    assert rule(frames, expected=WHOLE, known=known, flaky=(B,)).state is CheckState.PASS


def test_a_patched_module_from_elsewhere_was_not_tested() -> None:
    """Case H1."""
    frames = [
        (k, {**b, "imports": {"own": [], "foreign": {"pkg.mod": "/other/pkg/mod.py"}}} if k == "finish" else b)
        for k, b in GOOD
    ]
    result = rule(frames, touched={"src/pkg/mod.py": ("pkg.mod", "src.pkg.mod")})
    assert [f.error for f in result.findings] == ["imported elsewhere"]


def test_a_report_survives_odd_ids() -> None:
    odd = "tests/test_a.py::test[a b-\\xe4-::-[x]]"
    frames = run(phases(odd), collected=(odd,))
    assert stream.read(channel(frames), KEY).outcomes == {odd: "passed"}
    assert rule(frames, expected=Expected(ids=(odd,))).state is CheckState.PASS
