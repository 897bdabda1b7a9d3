"""Every check on a tree as it is, with nothing known beforehand: for `referee check`."""

from __future__ import annotations

from collections.abc import Iterator

from referee.actions.execute import Execute
from referee.domain.errors import Exhausted
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import facts, plan, ruling, stream
from referee.judge.carry import execute
from referee.judge.checks import ReportedCheck, unused, without_ignored
from referee.judge.choose import checks_for, suites_of, without_skipped
from referee.judge.evidence import Evidence, Expected, Known, known_from
from referee.judge.plan import TestRun
from referee.judge.project import Project
from referee.judge.seen import Seen
from referee.judge.settings import SUITE_KEY, TEST_KEY, Settings
from referee.judge.stream import Report
from referee.judge.targets import target_commands
from referee.kernel.run import Run
from referee.ports import Base

SUITE = "pytest-suite"
_NO_PROGRAM = (126, 127)  # exit codes of what could not be started
_FEW = 12  # failing tests that are looked at again; more than that are no accident


def examine(
    run: Run, project: Project, base: Base, settings: Settings, only: Patch | None = None
) -> tuple[CheckResult, ...]:
    """Every check on the tree as it is, for `referee check`: nothing is known beforehand, everything counts.

    With `only`, what looks at files looks at those; tests are run whole. If the time runs out, what has been said by
    then is kept, and the rest did not run.
    """
    project = without_skipped(project, settings)
    for name, why in project.left_out.items():
        run.note(f"{name} is left out: {why}")
    results = [_absent(name, Layer.FORMAT, "not installed") for name in project.missing()]
    try:
        for result in _each(run, project, base, settings, only):
            results.append(result)  # noqa: PERF402 - those before the time ran out are kept
    except Exhausted:
        words = f"the checks did not end within {run.view.budget.timeout:g} seconds; allow more with --timeout"
        return (*results, _absent("what was left", Layer.SUITE, words))
    if not any(r.layer in (Layer.TARGET, Layer.AFFECTED, Layer.SUITE) for r in results):
        results.append(_absent("tests", Layer.SUITE, "there are no tests, so nothing says whether the code works"))
    for note in unused(settings.ignore, results):
        run.note(note)
    return tuple(results)


def _each(run: Run, project: Project, base: Base, settings: Settings, only: Patch | None) -> Iterator[CheckResult]:
    for check in (*checks_for(project, settings, run.paths(base.tree)), *target_commands(project, settings, (), ())):
        idle = only is not None and not only.changes
        command = None if idle else check.command(base, only or Patch())
        run.progress("check", {"check": check.name, "layer": check.layer.value})
        said = check.read(execute(run, check.name, command)) if command else check.idle("nothing to check")
        if command and check.lasting and only is None:
            facts.keep_result(run, facts.key_of_check(project, check, command), said)
        if isinstance(check, ReportedCheck) and said.exit_code in _NO_PROGRAM:
            run.note(f"{check.name} is left out: it is not installed")
            continue
        yield without_ignored(said, settings.ignore)
    yield from _others(run, project, base, settings)
    if "pytest" in project.uses:
        suite = _suite(run, project, base, settings)
        yield suite
        _again(run, project, base, suite, settings)


def _absent(name: str, layer: Layer, note: str) -> CheckResult:
    return CheckResult(check=name, layer=layer, state=CheckState.NOT_RUN, note=note)


def _others(run: Run, project: Project, base: Base, settings: Settings) -> list[CheckResult]:
    """The suites of other languages. One whose runner is not installed is left out, loudly, where another judges."""
    said: list[CheckResult] = []
    absent: list[CheckResult] = []
    for suite in suites_of(project, settings):
        command = suite.command(base, Patch())
        if command is None:
            continue
        run.progress("check", {"check": suite.name, "layer": suite.layer.value})
        execution = execute(run, suite.name, command)
        began = execution.killed_by is not None or suite.heard(execution).began
        (said if began else absent).append(suite.read(execution))
    if not said and "pytest" not in project.uses:
        return absent
    for missing in absent:
        run.note(f"{missing.check} is left out: {missing.note}")
    return said


def _suite(run: Run, project: Project, base: Base, settings: Settings) -> CheckResult:
    """The whole suite. Marks and tampering of a tree nobody has patched are its owner's."""
    python = project.interpreter
    if "pytest" not in python.distributions:
        return _absent(SUITE, Layer.SUITE, python.note or f"{python.executable} has no pytest; install it there")
    run.progress("check", {"check": SUITE, "layer": Layer.SUITE.value})
    what = TestRun(test_seconds=settings.test_seconds)
    command = plan.command(project, base, Patch(), what, settings.suite_seconds)
    execution = run.perform(Execute(command=command))
    report = stream.read(execution.channel, execution.key)
    _compare(run, facts.key_of("suite", project, command), Seen(execution=execution, report=report))
    known = Known(
        outcomes={t: "passed" for t, o in report.outcomes.items() if o not in ("skipped", "xfailed", "xpassed")},
        tampering=report.tampering, plugins=report.plugins,
        canaries=known_from(report).canaries,
    )  # fmt: skip
    evidence = Evidence(
        check=SUITE, layer=Layer.SUITE, execution=execution, expected=Expected(whole=True), known=known,
        flaky=(*settings.flaky, *report.flaky, *facts.known_flaky(run, base.tree)),
        limit=f"{settings.suite_seconds:g} seconds; raise {SUITE_KEY}",
    )  # fmt: skip
    result = ruling.rule(evidence, report)
    return result.model_copy(update={"note": f"{result.note}{_slow(report, settings)}"})


def _compare(run: Run, key: str, seen: Seen) -> None:
    """Say which tests ended differently in an earlier run on the same tree, and keep this one for later."""
    before = facts.known_suite(run, key)
    if before is not None:
        now = seen.report.outcomes
        unlike = [t for t, o in before.report.outcomes.items() if t in now and now[t] != o]
        if unlike:
            more = f" and {len(unlike) - 3} more" if len(unlike) > 3 else ""
            run.note(f"flaky: {', '.join(unlike[:3])}{more} ended differently in an earlier run on this very tree")
    facts.keep_suite(run, key, seen)


def _again(run: Run, project: Project, base: Base, result: CheckResult, settings: Settings) -> None:
    """Say which failing tests pass when they are run once more. They count all the same: nobody knows which is true."""
    failing = tuple(dict.fromkeys(f.id for f in result.findings if f.id in result.failed_ids))
    if not failing or len(failing) > _FEW or result.killed_by:
        return
    what = TestRun(ids=failing, test_seconds=settings.test_seconds, full=False)
    execution = run.perform(Execute(command=plan.command(project, base, Patch(), what, settings.target_seconds)))
    ended = stream.read(execution.channel, execution.key).outcomes
    lucky = [t for t in failing if ended.get(t) == "passed"]
    if lucky:
        run.note(
            f"flaky: {', '.join(lucky)} failed in the suite and passed alone, on this very tree; mend it, or list it "
            "under flaky"
        )


def _slow(report: Report, settings: Settings) -> str:
    """Which limit ended tests, if it did."""
    ended = len(report.slow)
    if not ended:
        return ""
    tests = "a test" if ended == 1 else f"{ended} tests"
    return f"; {tests} ran longer than {settings.test_seconds:g} seconds: raise {TEST_KEY}"
