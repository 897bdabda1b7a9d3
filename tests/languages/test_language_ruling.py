"""The ruling on a suite of another language, from frames alone: what is missing, skipped, new or bent is against it."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from test_judge_checks import project

from referee.domain.cost import Budget
from referee.domain.finding import FindingKind
from referee.domain.layer import Layer
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import Bench, Settings
from referee.judge.checks import SuiteCheck
from referee.judge.suites import rerun
from referee.judge.suites.suite import Suite
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.ports import Base, Execution
from referee.testing import FakeClock, FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore
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


def looked_again(tmp_path: Path, *unpatched: Execution) -> tuple[CheckResult, list[str]]:
    """A patch breaks `green`; asked again, the unpatched tree answers with these."""
    answers = iter(unpatched)
    store, clock = MemoryStore(), FakeClock()
    store.create("r", "{}", "now")
    journal = Journal(store, store.claim("r", "test", clock.now(), 60.0), clock)
    notes: list[str] = []
    shared = Shared(
        run_id="r", world=FakeEquipment(FakeWorkspace({}), FakeSandbox(lambda _: next(answers)), clock=clock),
        journal=journal, store=store, tell=lambda event, facts: notes.append(str(facts.get("text"))),
    )  # fmt: skip
    base = Base(tree="t", path=str(tmp_path), mount_at="/repo")
    judge = check()
    bench = Bench(project=judge.project, base=base, settings=Settings(), checks=(judge,))
    broken = judge.read(report(red="passed", green="failed"))
    assert broken.state is CheckState.FAIL
    return rerun.looked_again(Run(shared, Budget()), bench, judge, broken), notes


def test_what_fails_on_the_unpatched_tree_too_now_and_then_is_not_counted(tmp_path: Path) -> None:
    result, notes = looked_again(tmp_path, report(red="failed", green="passed"), report(red="failed", green="failed"))
    assert (result.state, [f.id for f in result.known]) == (CheckState.PASS, ["a.test.js > green"])
    assert any("flaky on the unpatched tree" in n for n in notes)


def test_what_always_passes_there_was_broken_by_the_patch(tmp_path: Path) -> None:
    result, notes = looked_again(tmp_path, *[report(red="failed", green="passed")] * 2)
    assert (result.state, ids(result)) == (CheckState.FAIL, [("a.test.js > green", "Error")])
    assert not any("flaky" in n for n in notes)
