"""The judge is checked before the player plays (D4): the target fails, alike every time, in time."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Mapping, Sequence

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
from referee.judge.checks import Check, CommandCheck
from referee.judge.choose import checks_for
from referee.judge.expect import expectation, test_seconds
from referee.judge.normal import decode
from referee.judge.plan import TestRun
from referee.judge.project import Project
from referee.judge.ruling import Evidence, Expected, Known
from referee.judge.settings import Settings
from referee.judge.stream import Report
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
        return ruling.known_from(self.report, self.execution.duration_ms)


def prepare(run: Run, project: Project, base: Base, targets: Sequence[str], settings: Settings) -> Bench:
    """A bench whose targets are known to fail. Raises `UsageError` or `Exhausted` with a sentence that says why not."""
    ids, commands = _kinds(run, base, targets)
    checks = (*checks_for(project, settings, run.paths(base.tree)), *_target_commands(project, settings, commands, ids))
    seconds = settings.test_seconds
    bench = Bench(project=project, base=base, settings=settings, checks=checks, test_seconds=seconds)
    demanded = [c for c in checks if c.layer is Layer.TARGET]
    _equipped(project, bool(demanded))
    failures = [_reproduced(run, bench, c) for c in demanded]
    if "pytest" in project.uses:
        bench = _with_tests(run, bench, ids, bool(demanded))
    known = {c.name: _baseline(run, bench, c) for c in checks if c.layer is not Layer.TARGET}
    return bench.model_copy(update={"known_findings": known, "failures": (*failures, *bench.failures)})


def _kinds(run: Run, base: Base, targets: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Test ids, and commands (words with spaces that name no file)."""
    paths = set(run.paths(base.tree))
    folders = {p[:i] for p in paths for i, c in enumerate(p) if c == "/"}
    ids, commands = [], []
    for target in targets:
        plain = target.strip().removeprefix("./").rstrip("/")
        file = plain.partition("::")[0]
        if "::" not in plain and " " in plain and plain not in paths:
            commands.append(plain)
        elif file not in paths and file not in folders:
            near = difflib.get_close_matches(file, sorted(p for p in paths if p.endswith(".py")), 3, 0.5)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise UsageError(f"target {target!r} names no file of the repository{hint}")
        else:
            ids.append(plain)
    return tuple(ids), tuple(commands)


def _target_commands(
    project: Project, settings: Settings, commands: Sequence[str], ids: tuple[str, ...]
) -> Iterable[Check]:
    for text in commands:
        yield CommandCheck(
            name=text,
            layer=Layer.TARGET,
            project=project,
            seconds=settings.target_seconds,
            run=tuple(shlex.split(text)),
        )
    for spec in settings.checks:
        if spec.layer is Layer.TARGET:
            name = spec.name or " ".join(spec.run)
            yield CommandCheck(
                name=name,
                layer=Layer.TARGET,
                project=project,
                seconds=settings.target_seconds,
                run=spec.run,
                targets=ids,
            )


def _equipped(project: Project, demanded: bool) -> None:
    missing = project.missing()
    if missing:
        names = ", ".join(missing)
        python = project.interpreter.executable
        raise UsageError(
            f"the project is set up for {names}, which is not installed; install it ({python} -m pip install "
            f"{' '.join(sorted({m.partition('-')[0] for m in missing}))}) or leave it out with skip in referee.toml"
        )
    if "pytest" not in project.uses and not demanded:
        raise UsageError("nothing can judge a repair here: no tests were found; name a check with --target 'COMMAND'")
    if "pytest" in project.uses and "pytest" not in project.interpreter.distributions:
        raise UsageError(project.note or f"{project.interpreter.executable} has no pytest")


def _reproduced(run: Run, bench: Bench, check: Check) -> CheckResult:
    """A command target fails, the same way every time."""
    results = []
    for _ in range(bench.settings.repeats):
        command = check.command(bench.base, _NOTHING)
        if command is None:
            raise UsageError(f"{check.name} has nothing to run")
        results.append(check.read(run.perform(Execute(command=command))))
        last = results[-1]
        if last.state is CheckState.NOT_RUN:
            raise UsageError(f"{check.name} cannot run in the sandbox: {last.note}")
        _in_time(last.killed_by, check.name, check.seconds)
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
        _exists(run, bench, ids, first)
    suite = _look(run, bench, (), settings.suite_seconds)
    source = first or suite
    expected, targets = expectation(source.report, ids, lambda p: run.read(bench.base.tree, p))
    known = ruling.merged([s.known for s in (suite, first) if s is not None])
    update = {
        "known": known, "suite_ms": suite.execution.duration_ms, "expected": expected, "targets": targets,
        "test_seconds": test_seconds(suite.report, settings.test_seconds),
    }  # fmt: skip
    bench = bench.model_copy(update=update)
    if not targets:
        if demanded:
            return bench
        what = f"{', '.join(ids)} passes" if ids else "the whole suite passes"
        raise Exhausted(StopReason.NOT_REPRODUCED, f"{what} on the tree as it is: there is nothing to repair")
    return _confirmed(run, bench, suite, first)


def _look(run: Run, bench: Bench, ids: tuple[str, ...], seconds: float) -> Seen:
    what = TestRun(ids=ids, test_seconds=bench.test_seconds)
    run.progress("check", {"check": "pytest", "layer": "L3" if ids else "L5", "baseline": True})
    execution = run.perform(Execute(command=plan.command(bench.project, bench.base, _NOTHING, what, seconds)))
    _in_time(execution.killed_by, "the target" if ids else "the full suite", seconds)
    report = stream.read(execution.channel, execution.key)
    if not report.begun:
        lines = [li for li in decode(execution.stderr).splitlines() if li.strip()]
        said = lines[-1] if lines else f"exit code {execution.exit_code}"
        raise UsageError(f"the tests cannot start in the sandbox: {said}")
    return Seen(execution=execution, report=report)


def _exists(run: Run, bench: Bench, ids: tuple[str, ...], seen: Seen) -> None:
    """Every target named was found, or is a module that cannot be collected."""
    report = seen.report
    uncollected = {r["id"] for r in report.collection}
    found = report.collected or ()

    def known(target: str) -> bool:
        file = target.partition("::")[0]
        within = any(i == target or i.startswith((target + "::", target + "[", target + "/")) for i in found)
        return within or any(u == file or u.startswith(file + "/") for u in uncollected)

    lost = [t for t in ids if not known(t)]
    if not lost:
        return
    files = tuple(dict.fromkeys(t.partition("::")[0] for t in lost))
    what = TestRun(ids=files, collect_only=True)
    command = plan.command(bench.project, bench.base, _NOTHING, what, bench.settings.target_seconds)
    execution = run.perform(Execute(command=command))
    there = stream.read(execution.channel, execution.key).collected or ()
    near = difflib.get_close_matches(lost[0], there, 3, 0.4)
    hint = f"; the nearest are {', '.join(near)}" if near else "; its file has no tests"
    raise UsageError(f"there is no test {lost[0]}{hint}")


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
    known = ruling.merged([bench.known, *(s.known for s in seen)])
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


def _in_time(killed_by: str | None, what: str, seconds: float) -> None:
    if killed_by in ("wall", "cpu"):
        raise Exhausted(
            StopReason.JUDGE_UNRELIABLE,
            f"{what} did not end within {seconds:g} seconds on the tree as it is; "
            "allow more time, or name a smaller target",
        )


def _baseline(run: Run, bench: Bench, check: Check) -> tuple[Finding, ...]:
    """What a check already says about the unpatched tree."""
    run.progress("check", {"check": check.name, "layer": check.layer.value, "baseline": True})
    command = check.command(bench.base, _NOTHING)
    if command is None:
        return ()
    result = check.read(run.perform(Execute(command=command)))
    _in_time(result.killed_by, check.name, check.seconds)
    if result.state is CheckState.NOT_RUN:
        raise Exhausted(StopReason.JUDGE_UNRELIABLE, f"on the tree as it is, {result.note}")
    return result.findings


def examine(run: Run, project: Project, base: Base, settings: Settings) -> tuple[CheckResult, ...]:
    """Every check on the tree as it is, for `referee check`: nothing is known beforehand, everything counts."""
    bench = Bench(project=project, base=base, settings=settings)
    results = [
        CheckResult(check=name, layer=Layer.FORMAT, state=CheckState.NOT_RUN, note="not installed")
        for name in project.missing()
        if name not in settings.skip
    ]
    for check in (*checks_for(project, settings, run.paths(base.tree)), *_target_commands(project, settings, (), ())):
        command = check.command(base, _NOTHING)
        results.append(check.read(run.perform(Execute(command=command))) if command else check.idle("nothing to check"))
    if "pytest" in project.uses and "pytest" not in settings.skip:
        what = TestRun(test_seconds=settings.test_seconds)
        command = plan.command(project, base, _NOTHING, what, settings.suite_seconds)
        execution = run.perform(Execute(command=command))
        report = stream.read(execution.channel, execution.key)
        known = Known(
            outcomes={t: "passed" for t, o in report.outcomes.items() if o not in ("skipped", "xfailed", "xpassed")},
            tampering=report.tampering, plugins=report.plugins,
            canaries=ruling.known_from(report, 0).canaries,
        )  # fmt: skip
        evidence = Evidence(
            check="pytest-suite", layer=Layer.SUITE, execution=execution, expected=Expected(whole=True), known=known,
            flaky=bench.settings.flaky,
        )  # fmt: skip
        results.append(ruling.rule(evidence, report))
    return tuple(results)
