"""The ruling on a suite of another language, from frames alone: what is missing, skipped, new or bent is against it."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest
from test_judge_checks import project

from referee.domain.finding import FindingKind
from referee.domain.layer import Layer
from referee.domain.verdict import CheckResult, CheckState
from referee.judge.checks import SuiteCheck
from referee.judge.suites.suite import Suite
from referee.ports import Execution
from referee.testing.sandbox import FAKE

KEY = b"k" * 32
CANARY = {"name": "referee0", "says": "must fail 1"}
KNOWN = {"a.test.js > red": "failed", "a.test.js > green": "passed"}


def execution(*frames: tuple[str, Any], key: bytes = KEY) -> Execution:
    lines = []
    for n, (kind, body) in enumerate(frames):
        data = json.dumps([n, kind, body]).encode()
        lines.append(hmac.new(key, data, hashlib.sha256).hexdigest().encode() + b" " + data + b"\n")
    return Execution(exit_code=0, channel=b"".join(lines), key=KEY, isolation=FAKE)


def report(
    exit_code: int | None = None, canary: str = "failed", says: str = "must fail 1", **outcomes: str
) -> Execution:
    tests = [(n.replace("_", " "), o) for n, o in outcomes.items()]
    tests += [("referee0", canary)] if canary else []
    results = [
        {"ancestorTitles": [], "title": n, "status": o, "failureMessages": [says if n == "referee0" else "Error: no"]}
        for n, o in tests
    ]
    failed = sum(o == "failed" for _, o in tests)
    ended = int(failed > 0) if exit_code is None else exit_code
    state = "failed" if failed else "passed"
    told = {
        "numTotalTests": len(tests), "numFailedTests": failed, "success": not failed,
        "testResults": [{"name": "/repo/a.test.js", "status": state, "message": "", "assertionResults": results}],
    }  # fmt: skip
    return execution(("canary", CANARY), ("stdout", ""), ("stderr", ""), ("report", json.dumps(told)), ("exit", ended))


def check(**more: Any) -> SuiteCheck:
    given: dict[str, Any] = {
        "known": KNOWN, "must": tuple(KNOWN), "bites": ("a.test.js",), "project": project(), **more,
    }  # fmt: skip
    suite = Suite(kind="jest", files=("a.test.js",))
    return SuiteCheck(name="jest", layer=Layer.SUITE, suite=suite, **given)


def ids(result: CheckResult) -> list[tuple[str, str]]:
    return [(f.id, f.error) for f in result.findings]


def test_all_that_must_pass_passed() -> None:
    result = check().read(report(red="passed", green="passed"))
    assert (result.state, result.findings, result.passed_ids) == (CheckState.PASS, (), tuple(KNOWN))


@pytest.mark.parametrize(("said", "against"), [
    ({"red": "passed"}, [("a.test.js > green", "missing")]),
    ({"red": "passed", "green": "skipped"}, [("a.test.js > green", "skipped")]),
    ({"red": "failed", "green": "passed"}, [("a.test.js > red", "Error")]),
    ({"red": "passed", "green": "passed", "new": "passed"}, [("a.test.js > new", "unexpected")]),
    ({"red": "passed", "green": "passed", "canary": "passed"}, [("a.test.js", "canary")]),
    ({"red": "passed", "green": "passed", "canary": ""}, [("a.test.js", "canary")]),
    ({"red": "passed", "green": "passed", "says": "Error: another reason"}, [("a.test.js", "canary")]),
    ({"red": "passed", "green": "passed", "exit_code": 0}, [("(jest)", "no report")]),
])  # fmt: skip
def test_whatever_else_is_against_it(said: dict[str, Any], against: list[tuple[str, str]]) -> None:
    result = check().read(report(**said))
    assert (result.state, ids(result)) == (CheckState.FAIL, against)


def test_a_bent_outcome_is_tampering() -> None:
    result = check().read(report(red="passed", green="passed", canary="passed"))
    assert result.findings[0].kind is FindingKind.TAMPER


def test_frames_that_the_starter_did_not_sign_are_nothing() -> None:
    honest = report(red="passed", green="passed")
    forged = execution(("canary", CANARY), ("exit", 1), key=b"x" * 32)
    assert check().read(honest.model_copy(update={"channel": forged.channel})).state is CheckState.FAIL
    assert check().read(honest.model_copy(update={"channel": b""})).state is CheckState.FAIL
    unknown = check(known=None, must=(), bites=())
    assert unknown.read(honest.model_copy(update={"channel": b""})).state is CheckState.NOT_RUN


def test_what_failed_before_is_not_blamed_on_a_patch() -> None:
    result = check(must=("a.test.js > green",)).read(report(red="failed", green="passed"))
    assert (result.state, [f.id for f in result.known]) == (CheckState.PASS, ["a.test.js > red"])


def test_a_flaky_test_is_told_and_not_counted() -> None:
    judge = check(must=("a.test.js > red",), flaky=("a.test.js > green",))
    result = judge.read(report(red="passed", green="failed"))
    assert (result.state, [f.id for f in result.known]) == (CheckState.PASS, ["a.test.js > green"])


def test_a_run_that_was_killed_is_a_failure_that_says_so() -> None:
    killed = report().model_copy(update={"exit_code": None, "killed_by": "wall", "channel": b""})
    result = check(seconds=3.0).read(killed)
    assert ids(result) == [("(jest)", "killed:wall")]
    assert "longer than 3 seconds" in result.findings[0].message
