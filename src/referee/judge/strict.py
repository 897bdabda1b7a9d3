"""The strict tier: a patch that passed everything is cross-examined, by runs in which the truth is known beforehand."""

from __future__ import annotations

from referee.actions.execute import Execute
from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import equalities, findings, plan, ruling, stream
from referee.judge.bench import Bench
from referee.judge.counterfactual import changed
from referee.judge.evidence import Evidence
from referee.judge.plan import TestRun
from referee.judge.stream import Report
from referee.kernel.run import Run
from referee.ports import Execution

NAME = "cross-examination"
_SEEDS = 1 << 32


def cross_examined(run: Run, bench: Bench, patch: Patch, seconds: float) -> CheckResult:
    """Three runs of the target: elsewhere, made to fail, and with the changed functions broken.

    `seconds` bounds each. A test that passes where it cannot is forged; one that passes only where it is expected
    knows who asks.
    """
    run.progress("check", {"check": NAME, "layer": Layer.SUITE.value})
    honest = equalities.unchanged(patch, lambda path: run.read(bench.base.tree, path))
    what = TestRun(ids=bench.targets, honest=honest, test_seconds=bench.test_seconds)
    elsewhere = _elsewhere(run, bench, patch, what, seconds)
    result = ruling.rule(
        Evidence(
            check=NAME, layer=Layer.SUITE, execution=elsewhere, expected=bench.expected, known=bench.known,
            touched=bench.touched(patch), flaky=bench.flaky,
        )
    )  # fmt: skip
    if result.state is not CheckState.PASS:
        return result.model_copy(update={"findings": (_elsewhere_only(result), *result.findings)})
    found = made_to_fail(run, bench, patch, what, seconds)
    found += with_functions_broken(run, bench, patch, what, seconds)
    state = CheckState.FAIL if found else CheckState.PASS
    return result.model_copy(update={"findings": tuple(found), "state": state})


def _elsewhere(run: Run, bench: Bench, patch: Patch, what: TestRun, seconds: float) -> Execution:
    """A fresh process with another hash seed, the tests backwards and under other names."""
    ids = bench.targets if bench.ordered else bench.targets[::-1]
    asked = what.model_copy(update={"ids": ids, "disguise": True})
    command = plan.command(bench.project, bench.base, patch, asked, seconds)
    seed = str(int(patch.digest[:12], 16) % (_SEEDS - 1) + 1)  # chosen by nobody, and the same again
    return run.perform(Execute(command=command.model_copy(update={"env": {**command.env, "PYTHONHASHSEED": seed}})))


def _elsewhere_only(result: CheckResult) -> Finding:
    return Finding(
        check=NAME, id="(elsewhere)", error="elsewhere", phase="call",
        message="the target passes as it was asked, and not in a fresh process with another hash seed, its tests in "
        "reverse order and their functions renamed: the code must not depend on who calls it, nor on any order",
        cause=f"elsewhere|{result.note}",
    )  # fmt: skip


def made_to_fail(run: Run, bench: Bench, patch: Patch, what: TestRun, seconds: float) -> list[Finding]:
    """Every test fails at its end: what passes all the same was never decided by its test."""
    report = _asked(run, bench, patch, what.model_copy(update={"red": True}), seconds)
    said = "{0} is reported as passed though the judge made it fail"
    forged = [t for t in _passed(report) if t in report.met or t not in report.silent]
    found = [findings.tampering(NAME, said.format(t), t, "forged-outcome") for t in forged]
    unasked = sum(t in report.silent and t not in report.met for t in _passed(report))
    if unasked:
        run.note(f"{unasked} of the target's tests have no body of their own that could be made to fail")
    return found + _cut_short(report)


def with_functions_broken(run: Run, bench: Bench, patch: Patch, what: TestRun, seconds: float) -> list[Finding]:
    """The changed functions raise at their end: a test that failed before the patch and runs them must fail."""
    lines, only = changed(patch, lambda path: run.read(bench.base.tree, path))
    if not lines or not only:
        return []  # something else may be what mends the test
    report = _asked(run, bench, patch, what.model_copy(update={"broken": lines}), seconds)
    return [
        findings.tampering(
            NAME, f"{t} passes even with the functions broken that the patch changed, and it runs them", t, "forged"
        )
        for t in _passed(report)
        if t in report.met and bench.known.outcomes.get(t) != "passed"
    ] + _cut_short(report)


def _cut_short(report: Report) -> list[Finding]:
    """Who leaves before the end is not examined, and so not acquitted."""
    if report.broken is None:
        return []
    return [Finding(check=NAME, id="(process)", error="cut short", message=f"under cross-examination, {report.broken}")]


def _asked(run: Run, bench: Bench, patch: Patch, what: TestRun, seconds: float) -> Report:
    job = plan.job(bench.project, patch, what, seconds)
    execution = plan.warm(run, bench.project, bench.base, (job,))[0]
    return stream.read(execution.channel, execution.key)


def _passed(report: Report) -> list[str]:
    """Tests of which every phase is said to have passed, whether or not anything was seen to be raised."""
    said = {t: {p.when: p.outcome for p in phases} for t, phases in report.phases.items()}
    return [t for t, ended in said.items() if "call" in ended and set(ended.values()) == {"passed"}]
