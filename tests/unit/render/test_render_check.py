"""A check's result for other programs: SARIF and JUnit XML that say the same, whatever is in it."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.domain.finding import Finding, FindingKind
from referee.domain.layer import Layer
from referee.domain.report import CheckReport, check_report
from referee.domain.verdict import CheckResult, CheckState
from referee.judge.readers import READERS, Output
from referee.render.junit import junit
from referee.render.sarif import sarif as sarif_of


def sarif(report: CheckReport) -> str:
    return sarif_of(report, "1.0")


EVIL = "\x1b]52;c;ZXZpbA==\x07\x00<a>&\"']]>\ud800\ufffe\u202e"


def result(state: CheckState = CheckState.FAIL, **more: Any) -> CheckResult:
    return CheckResult.model_validate(
        {"check": "mypy", "layer": Layer.TYPES, "state": state, "duration_ms": 1_500, **more}
    )


def finding(**more: Any) -> Finding:
    base = {"check": "mypy", "id": "a b/ä.py:arg-type", "path": "a b/ä.py", "line": 3, "rule": "arg-type"}
    return Finding.model_validate({"message": "not an int", "value": "not an int", **base, **more})


def suite(*found: Finding, passed: tuple[str, ...] = (), failed: tuple[str, ...] = ()) -> CheckResult:
    state = CheckState.FAIL if found else CheckState.PASS
    return result(state, check="suite", layer=Layer.SUITE, findings=found, passed_ids=passed, failed_ids=failed)


def the_run(report: CheckReport) -> Any:
    log = json.loads(sarif(report))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    return run


def read(form: str, text: str, code: int = 1) -> Any:
    return READERS[form](Output(check="c", root="/repo", stdout=text, stderr="", exit_code=code))


def test_a_finding_is_a_result_with_its_rule_and_place() -> None:
    run = the_run(check_report([result(findings=(finding(),))], ""))
    (found,) = run["results"]
    assert run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == found["ruleId"] == "mypy/arg-type"
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b/%C3%A4.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 3}
    assert run["invocations"][0] == {"executionSuccessful": True, "exitCode": 1, "toolExecutionNotifications": []}


def prints(*found: Finding) -> list[str]:
    run = the_run(check_report([result(findings=found)], ""))
    return [r["partialFingerprints"]["referee/1"] for r in run["results"]]


def test_a_fingerprint_stays_when_lines_move_and_tells_equal_findings_apart() -> None:
    assert prints(finding()) == prints(finding(line=40))
    assert prints(finding()) != prints(finding(value="not a str"))
    first, second = prints(finding(), finding(line=40))
    assert first.partition(":")[0] == second.partition(":")[0] and first != second


def test_what_did_not_run_is_no_result_and_no_success() -> None:
    found = finding(kind=FindingKind.NOT_RUN, message="mypy broke")
    run = the_run(check_report([result(CheckState.NOT_RUN, findings=(found,), note="mypy broke")], ""))
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "mypy broke" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_what_may_be_missing_is_only_told() -> None:
    report = check_report([suite(passed=("t.py::a",)), result(CheckState.NOT_RUN, optional=True)], "")
    invocation = the_run(report)["invocations"][0]
    assert report.passed and invocation["executionSuccessful"] is True
    assert [n["level"] for n in invocation["toolExecutionNotifications"]] == ["warning"]
    assert ElementTree.fromstring(junit(report)).get("skipped") == "1"


def test_ignored_findings_are_suppressed_results() -> None:
    text = sarif(check_report([result(CheckState.PASS, ignored=(finding(),))], ""))
    assert json.loads(text)["runs"][0]["results"][0]["suppressions"][0]["kind"] == "external"
    assert read("sarif", text, 0).findings == ()


def test_every_test_is_a_case_of_the_xml_report() -> None:
    failing = Finding(
        check="suite", id="tests/t.py::T::b[1::2]", phase="call", error="AssertionError", message="assert 1 == 2",
        path="tests/t.py", line=9, actual="1", expected="2", detail=("stdout: …said",),
    )  # fmt: skip
    other = Finding(check="suite", id="tests/u.py", phase="collect", error="ImportError", message="no x")
    report = check_report(
        [suite(failing, other, passed=("tests/t.py::a",), failed=("tests/t.py::T::b[1::2]", "tests/t.py::flaky"))], ""
    )
    root = ElementTree.fromstring(junit(report))
    cases = {(c.get("classname"), c.get("name")): c for c in root.iter("testcase")}
    assert set(cases) == {
        ("tests.t", "a"), ("tests.t.T", "b[1::2]"), ("tests.t", "flaky"), ("suite", "tests/u.py"),
    }  # fmt: skip
    assert [root.get(n) for n in ("tests", "failures", "errors", "skipped", "time")] == ["4", "1", "1", "1", "1.500"]
    failed = cases["tests.t.T", "b[1::2]"]
    assert (failed.get("file"), failed.get("line")) == ("tests/t.py", "9")
    text = failed.findtext("failure") or ""
    assert "tests/t.py:9: assert 1 == 2" in text and "left  1\nright 2" in text and "said" in text


def test_checks_without_tests_are_cases_themselves() -> None:
    passed, failed = result(CheckState.PASS, check="ruff", layer=Layer.FORMAT), result(findings=(finding(),))
    missing = result(CheckState.NOT_RUN, check="types", note="not installed")
    root = ElementTree.fromstring(junit(check_report([passed, failed, missing], "")))
    assert [s.get("name") for s in root] == ["L0 ruff", "L1 mypy", "L1 types"]
    assert [root.get(n) for n in ("tests", "failures", "errors")] == ["3", "1", "1"]


TEXT = st.one_of(st.text(st.characters(), max_size=60), st.just(EVIL))
ANY = st.builds(
    finding, id=TEXT, path=TEXT, line=st.integers(-1, 10), rule=TEXT, message=TEXT, error=TEXT,
    detail=st.lists(TEXT, max_size=2).map(tuple), actual=TEXT, expected=TEXT,
)  # fmt: skip


@settings(max_examples=40)
@given(st.lists(ANY, min_size=1, max_size=4), st.lists(TEXT, max_size=3).map(tuple))
def test_any_text_makes_whole_documents_that_our_own_readers_take(found: list[Finding], ids: tuple[str, ...]) -> None:
    report = check_report([result(findings=tuple(found), passed_ids=ids, failed_ids=(found[0].id,))], "")
    for form, text in (("sarif", sarif(report)), ("junit", junit(report))):
        text.encode("utf-8")
        assert "\x1b" not in text and "\x00" not in text
        reading = read(form, text)
        assert not reading.strange
        assert reading.findings
    assert len(read("sarif", sarif(report)).findings) == len(found)
