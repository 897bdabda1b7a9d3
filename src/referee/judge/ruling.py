"""The ruling on a test run: pure, and sceptical. Everything must say "passed", and nothing may say otherwise (D3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from referee.domain.finding import Finding, FindingKind
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import findings, stream
from referee.judge.evidence import Evidence, Expected, Known, canaries_failed
from referee.judge.normal import decode, steady
from referee.judge.stream import Report
from referee.ports import Execution

_FINE = ("passed", "skipped", "xfailed", "xpassed")
_EXITS = {
    2: "the run was interrupted or a module could not be collected",
    3: "pytest had an internal error",
    4: "pytest refused its arguments",
    5: "no test was collected",
}
_TRICKS = {
    "patched": "replaced {0}",
    "hooked": "put a hook of {0} among those that run tests",
    "always-equal": "has an __eq__ at {0} that claims to equal everything",
    "bent-arithmetic": "reckons at {0} so that every difference is the same",
    "holds-all": "claims at {0} to contain whatever it is asked about",
    "unfinished": "let {0} be reported as passed, though it never came to its end",
    "forged-report": "tried to report for the judge from {0}",
}
_WRONG = {
    "failed": "it is marked as expected to fail and passed (strict xfail)",
    "missing": "it did not run",
    "skipped": "it was skipped",
    "xfailed": "it failed as its xfail mark expects",
    "xpassed": "it is marked as expected to fail",
}


def rule(evidence: Evidence, report: Report | None = None) -> CheckResult:
    """Pass, fail or not run, with a finding for everything that stands in the way."""
    execution = evidence.execution
    report = report or stream.read(execution.channel, execution.key)
    found = [*_tampering(evidence, report), *_foreign(evidence, report)]
    trouble = _process(evidence, report)
    failing, known = _failing(evidence, report)
    found += failing
    found += _collection(evidence, report)
    found += [findings.of_internal(evidence.check, e) for e in report.internal]
    unseen = _unsatisfied(evidence, report, {f.id for f in found})
    # A dead process explains why tests are missing: one finding says it, not one per test.
    found += trouble or unseen
    outcomes = report.outcomes
    state = CheckState.FAIL if found else CheckState.PASS
    if not report.begun and execution.killed_by is None and not _tampered(found):
        state = CheckState.NOT_RUN
        found = [f.model_copy(update={"kind": FindingKind.NOT_RUN}) for f in found]
    return CheckResult(
        check=evidence.check,
        layer=evidence.layer,
        state=state,
        findings=tuple(found),
        known=tuple(known),
        passed_ids=tuple(t for t, o in outcomes.items() if o == "passed"),
        failed_ids=tuple(t for t, o in outcomes.items() if o in ("failed", "error")),
        exit_code=execution.exit_code,
        killed_by=execution.killed_by,
        isolation=execution.isolation.stamp,
        duration_ms=execution.duration_ms,
        note=_note(report, outcomes, evidence.flaky),
    )


def _tampered(found: Iterable[Finding]) -> bool:
    return any(f.kind is FindingKind.TAMPER for f in found)


def _tampering(evidence: Evidence, report: Report) -> list[Finding]:
    check, known, found = evidence.check, evidence.known, []
    # Where a plugin runs tests out of hearing, as in processes of their own, silence proves nothing.
    unheard = any(event == "unfinished" for event, _ in known.tampering)
    for event, place in dict.fromkeys(report.tampering):
        if (event, place) in known.tampering or (event == "unfinished" and unheard):
            continue
        said = _TRICKS.get(event, f"used {event} from {{0}}").format(place)
        found.append(findings.tampering(check, f"the code under test {said}", place, event))
    found += [
        findings.tampering(check, f"a pytest plugin was loaded from {p}", p, "plugin")
        for p in report.plugins
        if p not in known.plugins
    ]
    # A run that a limit ended may end inside a frame; that is no forgery.
    if report.broken and "forged" in report.broken and evidence.execution.killed_by is None:
        found.append(findings.tampering(check, report.broken, trick="forged-report"))
    if known.canaries:
        for phases in report.canaries.values():
            if any(p.when == "call" and p.outcome != "failed" for p in phases):
                said = "a test that must fail did not: the code under test bends the outcome of tests"
                found.append(findings.tampering(check, said, trick="canary"))
    return list({(f.rule, f.path): f for f in found}.values())


def _foreign(evidence: Evidence, report: Report) -> list[Finding]:
    """A patched module that was imported from somewhere else: the run says nothing about the patch (case H1)."""
    found = []
    for path, names in evidence.touched.items():
        for name in names:
            if name in report.foreign and path not in report.own:
                text = f"{name} was imported from {report.foreign[name]}, not from {path}: the patch was not tested"
                found.append(
                    Finding(check=evidence.check, id=path, path=path, error="imported elsewhere", message=text)
                )
    return found


def _process(evidence: Evidence, report: Report) -> list[Finding]:
    """What is wrong with the process itself, as one finding."""
    execution, check = evidence.execution, evidence.check
    words, error = "", ""
    if execution.killed_by:
        words, error = f"the run was killed ({execution.killed_by})", f"killed:{execution.killed_by}"
        if execution.killed_by == "wall" and evidence.limit:
            words = f"the tests took longer than {evidence.limit}"
    elif report.broken:
        words = f"the process left early with exit code {execution.exit_code}: {report.broken}"
        error = "died" if report.begun else "not started"
    elif report.ended != execution.exit_code:
        words, error = f"pytest ended with {report.ended} but the process with {execution.exit_code}", "exit codes"
    elif not report.collected and not report.collection:
        words, error = _EXITS.get(report.ended or 0, f"exit code {report.ended} without tests"), "no tests"
    elif report.collected and evidence.known.canaries and not canaries_failed(report):
        words, error = f"the run was cut short (exit code {report.ended})", "cut short"
    elif report.collected and evidence.known.canaries and report.ended != 1:
        words, error = f"exit code {report.ended}: {_EXITS.get(report.ended or 0, 'expected 1')}", "exit code"
    if not words:
        return []
    running = report.unfinished if error != "no tests" else None
    if running:
        words += f", while {running} ran"
    detail = last_words(execution)
    return [
        Finding(
            check=check, id=running or "(process)", phase="process", error=error, message=words,
            cause=f"process|{error}|{running or ''}", value=steady("\n".join(detail[:1])), detail=tuple(detail),
        )
    ]  # fmt: skip


def last_words(execution: Execution) -> list[str]:
    """The telling lines of what the process printed before it ended."""
    text = decode(execution.stderr)
    if "Fatal Python error" in text:
        return text[text.index("Fatal Python error") :].splitlines()[:12]
    lines = [line for line in (text + "\n" + decode(execution.stdout)).splitlines() if line.strip()]
    telling = [li for li in lines if re.search(r"(?i)error|exception|not found|no tests|usage:|timeout|conftest", li)]
    return list(dict.fromkeys([*telling[:8], *lines[-6:]]))


def _failing(evidence: Evidence, report: Report) -> tuple[list[Finding], list[Finding]]:
    """Failures that count, and those that were there before."""
    blocking: list[Finding] = []
    known: list[Finding] = []
    outcomes = report.outcomes
    for record in report.failures:
        test = record["id"]
        if outcomes.get(test) in ("passed", "xfailed", "skipped"):
            continue
        made = findings.of_failure(evidence.check, record)
        (blocking if _counts(evidence, test) else known).append(made)
    return blocking, known


def _counts(evidence: Evidence, test: str) -> bool:
    before = evidence.known.outcomes.get(test)
    if test in evidence.flaky and test not in evidence.expected.ids:
        return False
    if test in evidence.expected.ids or test.partition("::")[0] in evidence.expected.files:
        return True
    return evidence.expected.whole and before not in ("failed", "error", "missing")


def _collection(evidence: Evidence, report: Report) -> list[Finding]:
    found = []
    for record in report.collection:
        file = record["id"]
        if record["outcome"] == "failed" and (
            file not in evidence.known.uncollected or file in evidence.expected.files
        ):
            found.append(findings.of_collection(evidence.check, record))
    return found


def _unsatisfied(evidence: Evidence, report: Report, told: set[str]) -> list[Finding]:
    """Tests that were expected to pass and have neither passed nor a failure of their own."""
    outcomes, expected, known = report.outcomes, evidence.expected, evidence.known
    found = []
    for test, wrong in _wanted(outcomes, expected, known):
        if test in told or (test in evidence.flaky and test not in expected.ids):
            continue
        found.append(
            Finding(
                check=evidence.check, id=test, error=wrong, phase="call",
                message=f"{test} did not pass: {_WRONG.get(wrong, wrong)}", cause=f"outcome|{wrong}",
            )
        )  # fmt: skip
    return found


def _wanted(outcomes: Mapping[str, str], expected: Expected, known: Known) -> Iterable[tuple[str, str]]:
    for test in expected.ids:
        if outcomes.get(test, "missing") != "passed":
            yield test, outcomes.get(test, "missing")
    for file, functions in expected.files.items():
        passed = {_function(t) for t, o in outcomes.items() if o == "passed" and t.startswith(file + "::")}
        if not passed:
            yield file, "no test of it passed"
        yield from ((f"{file}::{name}", "missing") for name in functions if name not in passed)
    if expected.whole:
        for test, before in known.outcomes.items():
            now = outcomes.get(test, "missing")
            if _worse(before, now):
                yield test, now


def _worse(before: str, now: str) -> bool:
    if before == "passed":
        return now != "passed"
    if before in _FINE:
        return now not in _FINE
    return before in ("failed", "error") and now == "missing"


def _function(test: str) -> str:
    return test.partition("::")[2].partition("[")[0]


def _note(report: Report, outcomes: Mapping[str, str], flaky: tuple[str, ...]) -> str:
    counts: dict[str, int] = {}
    for outcome in outcomes.values():
        counts[outcome] = counts.get(outcome, 0) + 1
    told = ", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or "no test ran"
    unsure = sum(outcomes.get(t) in ("failed", "error") for t in set(flaky))
    told += f", {unsure} of them flaky and not counted" if unsure else ""
    return told + (f", {len(report.deselected)} deselected" if report.deselected else "")
