"""The judge is checked before the player plays (D4): the target fails, alike every time, in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from referee.actions.execute import Execute
from referee.domain.errors import Exhausted, UsageError
from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.reason import StopReason
from referee.domain.value import Value
from referee.domain.verdict import CheckResult, CheckState, fingerprint
from referee.judge import plan, ruling, stream
from referee.judge.bench import Bench
from referee.judge.carry import execute
from referee.judge.checks import Check, CommandCheck, without_ignored
from referee.judge.choose import checks_for, limit_of, without_skipped
from referee.judge.evidence import Evidence, Known, known_from, merged
from referee.judge.expect import expectation, test_seconds
from referee.judge.normal import decode
from referee.judge.plan import TestRun
from referee.judge.project import Project
from referee.judge.settings import SUITE_KEY, TARGET_KEY, Settings
from referee.judge.stream import Report
from referee.judge.targets import equipped, exist, kinds, target_commands
from referee.kernel.run import Run
from referee.ports import Base, Execution

_NOTHING = Patch()


class Seen(Value):
    """One run of tests on the unpatched tree."""

    execution: Execution
    report: Report

    @property
    def known(self) -> Known:
        """What it teaches."""
        return known_from(self.report, self.execution.duration_ms)


def prepare(run: Run, project: Project, base: Base, targets: Sequence[str], settings: Settings) -> Bench:
    """A bench whose targets are known to fail. Raises `UsageError` or `Exhausted` with a sentence that says why not."""
    project = without_skipped(project, settings)
    ids, commands = kinds(frozenset(run.paths(base.tree)), targets)
    checks = (*checks_for(project, settings, run.paths(base.tree)), *target_commands(project, settings, commands, ids))
    seconds = settings.test_seconds
    bench = Bench(project=project, base=base, settings=settings, checks=checks, test_seconds=seconds)
    demanded = [c for c in checks if c.layer is Layer.TARGET]
    equipped(project, settings.skip, bool(demanded))
    for note in (project.note, *(f"{name} is left out: {why}" for name, why in project.left_out.items())):
        if note:
            run.note(note)
    aside = _Aside(run.branch("baseline"), bench)
    try:
        failures = [_reproduced(run, bench, c) for c in demanded]
        if "pytest" in project.uses:
            bench = _with_tests(run, bench, ids, bool(demanded))
        known = aside.known()
        idle = {name: found for name, found in known.items() if isinstance(found, str)}
        for name, why in idle.items():
            run.note(f"{name} is left out: on the tree as it is, {why}")
    finally:
        aside.leave()
    update = {
        "known_findings": {name: found for name, found in known.items() if name not in idle},
        "checks": tuple(c for c in checks if c.name not in idle),
        "failures": (*failures, *bench.failures),
    }
    return bench.model_copy(update=update)


class _Aside:
    """What the other checks say of the unpatched tree, found out while the tests run: mypy may take as long."""

    def __init__(self, run: Run, bench: Bench) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="baseline")
        checks = [c for c in bench.checks if c.layer is not Layer.TARGET]
        self._known = self._pool.submit(lambda: {c.name: _baseline(run, bench, c) for c in checks})

    def known(self) -> Mapping[str, tuple[Finding, ...] | str]:
        """By check, the findings or why it cannot run, once all were tried; what went wrong there is raised here."""
        return self._known.result()

    def leave(self) -> None:
        """Wait for nothing: whoever stops the run closes the sandbox, which ends what still runs."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _reproduced(run: Run, bench: Bench, check: Check) -> CheckResult:
    """A command target fails, the same way every time."""
    results = []
    for _ in range(bench.settings.repeats):
        command = check.command(bench.base, _NOTHING)
        if command is None:
            raise UsageError(f"{check.name} has nothing to run")
        results.append(check.read(execute(run, check.name, command)))
        last = results[-1]
        if last.state is CheckState.NOT_RUN:
            raise UsageError(f"{check.name} cannot run in the sandbox: {last.note}")
        _in_time(last.killed_by, check.name, check.seconds, limit_of(check))
    _alike([{check.name: r.state.value} for r in results], [fingerprint(r.findings) for r in results])
    if results[0].state is CheckState.PASS:
        raise Exhausted(
            StopReason.NOT_REPRODUCED, f"{check.name} passes on the tree as it is: there is nothing to repair"
        )
    return results[0]


def _with_tests(run: Run, bench: Bench, ids: tuple[str, ...], demanded: bool) -> Bench:
    """Find out what fails, that it fails alike, and what the whole suite does."""
    settings = bench.settings
    first = _look(run, bench, ids, settings.target_seconds) if ids else None
    if first is not None:
        exist(run, bench, ids, first.report)
    suite = _look(run, bench, (), settings.suite_seconds)
    _collects(run, suite, bool(ids) or demanded)
    source = first or suite
    expected, targets = expectation(source.report, ids, lambda p: run.read(bench.base.tree, p))
    known = merged([s.known for s in (suite, first) if s is not None])
    update = {
        "known": known, "suite_ms": suite.execution.duration_ms, "expected": expected, "targets": targets,
        "test_seconds": test_seconds(suite.report, settings.test_seconds),
    }  # fmt: skip
    bench = bench.model_copy(update=update)
    if not targets:
        if demanded:
            return bench
        if source.report.broken:
            raise Exhausted(StopReason.JUDGE_UNRELIABLE, "the tests die before they end, so nothing says what passes")
        what = f"{', '.join(ids)} passes" if ids else "the whole suite passes"
        raise Exhausted(StopReason.NOT_REPRODUCED, f"{what} on the tree as it is: there is nothing to repair")
    return _confirmed(run, bench, suite, first)


def _look(run: Run, bench: Bench, ids: tuple[str, ...], seconds: float) -> Seen:
    """Run targets as the loop will, on the warm process, and the suite as the gate will, from a fresh start."""
    what = TestRun(ids=ids, test_seconds=bench.test_seconds)
    run.progress("check", {"check": "pytest", "layer": "L3" if ids else "L5", "baseline": True})
    if ids:
        execution = plan.warm(run, bench.project, bench.base, (plan.job(bench.project, _NOTHING, what, seconds),))[0]
    else:
        execution = run.perform(Execute(command=plan.command(bench.project, bench.base, _NOTHING, what, seconds)))
    slow, key = ("the target", TARGET_KEY) if ids else ("the full suite", SUITE_KEY)
    _in_time(execution.killed_by, slow, seconds, key)
    report = stream.read(execution.channel, execution.key)
    if not report.begun:
        lines = [li for li in decode(execution.stderr).splitlines() if li.strip()]
        said = lines[-1] if lines else f"exit code {execution.exit_code}"
        raise UsageError(f"the tests cannot start in the sandbox: {said}")
    return Seen(execution=execution, report=report)


def _collects(run: Run, suite: Seen, targets: bool) -> None:
    """A suite that collects nothing decides nothing; with a target of its own the run can go on, loudly."""
    report = suite.report
    if report.collected or report.collection:
        if report.broken:
            run.note("the full suite dies on the tree as it is; only the tests before that are compared afterwards")
        return
    said = " ".join(ruling.last_words(suite.execution)[:2]) or f"exit code {suite.execution.exit_code}"
    if not targets:
        raise UsageError(f"the test suite collects nothing to judge with: {said}")
    run.note(f"the full suite collects nothing; only the target is judged: {said}")


def _confirmed(run: Run, bench: Bench, suite: Seen, first: Seen | None) -> Bench:
    """Run the targets until they have failed alike as often as asked."""
    settings = bench.settings
    seen = [first] if first is not None else []
    while len(seen) < settings.repeats - (first is None):
        seen.append(_look(run, bench, bench.targets, settings.target_seconds))
    results = [ruling.rule(_plain(bench, s), s.report) for s in seen]
    watched = {t for t in (*bench.expected.ids, *bench.targets) if "::" in t} - set(settings.flaky)
    outcomes = [{t: s.report.outcome(t) for t in watched} for s in (suite, *seen)]
    if suite.report.broken or any(o == "missing" for o in outcomes[0].values()):
        del outcomes[0]
    _alike(outcomes, [fingerprint(r.findings) for r in results])
    took = max(s.execution.duration_ms for s in seen)
    known = merged([bench.known, *(s.known for s in seen)])
    if not known.canaries:
        run.note("the judge's own failing tests do not fail in this project; they are not counted on")
    return bench.model_copy(update={"failures": (results[0],), "target_ms": took, "known": known})


def _plain(bench: Bench, seen: Seen) -> Evidence:
    """The targets' failures with nothing known beforehand."""
    known = Known(tampering=seen.report.tampering, plugins=seen.report.plugins, canaries=seen.known.canaries)
    return Evidence(check="pytest", layer=Layer.TARGET, execution=seen.execution, expected=bench.expected, known=known)


def _alike(outcomes: Sequence[Mapping[str, str]], prints: Sequence[str]) -> None:
    for n, later in enumerate(outcomes[1:], 2):
        for test, outcome in later.items():
            before = outcomes[0].get(test, outcome)
            if before != outcome:
                raise Exhausted(
                    StopReason.FLAKY_CHECK,
                    f"{test} does not behave alike on the same tree: {before} in run 1, {outcome} in run {n}; "
                    "make it deterministic, or list it under flaky",
                )
    if len(set(prints)) > 1:
        raise Exhausted(StopReason.FLAKY_CHECK, "the target fails differently from run to run on the same tree")


def _in_time(killed_by: str | None, what: str, seconds: float, key: str) -> None:
    if killed_by in ("wall", "cpu"):
        raise Exhausted(
            StopReason.JUDGE_UNRELIABLE,
            f"{what} did not end within {seconds:g} seconds on the tree as it is; "
            f"raise {key}, or name a smaller target",
        )


def _baseline(run: Run, bench: Bench, check: Check) -> tuple[Finding, ...] | str:
    """What a check already says about the unpatched tree.

    A linter that was only detected and cannot run there judges nobody: why is said instead. A check that the user
    asked for must run.
    """
    run.progress("check", {"check": check.name, "layer": check.layer.value, "baseline": True})
    command = check.command(bench.base, _NOTHING)
    if command is None:
        return ()
    result = without_ignored(check.read(execute(run, check.name, command)), bench.settings.ignore)
    _in_time(result.killed_by, check.name, check.seconds, limit_of(check))
    if result.state is not CheckState.NOT_RUN:
        return result.findings
    if isinstance(check, CommandCheck) and not result.optional:
        raise Exhausted(StopReason.JUDGE_UNRELIABLE, f"on the tree as it is, {result.note}")
    return result.note
