"""One run of tests on the unpatched tree, and what makes such runs useless as a judge: too slow, or never alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.actions.execute import Execute
from referee.domain.errors import Exhausted, UsageError
from referee.domain.patch import Patch
from referee.domain.reason import StopReason
from referee.domain.value import Value
from referee.judge import plan, ruling, stream
from referee.judge.bench import Bench
from referee.judge.evidence import Known, known_from
from referee.judge.normal import decode
from referee.judge.plan import TestRun
from referee.judge.settings import SUITE_KEY, TARGET_KEY
from referee.judge.stream import Report
from referee.kernel.run import Run
from referee.ports import Command, Execution


class Seen(Value):
    """One run of tests on the unpatched tree."""

    execution: Execution
    report: Report

    @property
    def known(self) -> Known:
        """What it teaches."""
        return known_from(self.report)


def suite_command(bench: Bench) -> Command:
    """The whole suite on the unpatched tree, from a fresh start."""
    what = TestRun(test_seconds=bench.settings.test_seconds)
    return plan.command(bench.project, bench.base, Patch(), what, bench.settings.suite_seconds)


def look(run: Run, bench: Bench, ids: tuple[str, ...] = ()) -> Seen:
    """Run targets as the loop will, on the warm process, and the suite (no ids) as the gate will.

    Raises `Exhausted` if it takes too long and `UsageError` if it cannot start. A warm process that must not be forked
    has run nothing, and says why.
    """
    seconds = bench.settings.target_seconds if ids else bench.settings.suite_seconds
    run.progress("check", {"check": "pytest", "layer": "L3" if ids else "L5", "baseline": True})
    if ids:
        what = TestRun(ids=ids, test_seconds=bench.test_seconds)
        execution = plan.warm(run, bench.project, bench.base, (plan.job(bench.project, Patch(), what, seconds),))[0]
    else:
        execution = run.perform(Execute(command=suite_command(bench)))
    slow, key = ("the target", TARGET_KEY) if ids else ("the full suite", SUITE_KEY)
    in_time(execution.killed_by, slow, seconds, key)
    report = stream.read(execution.channel, execution.key)
    if not report.begun and not report.unforkable:
        lines = [li for li in decode(execution.stderr).splitlines() if li.strip()]
        said = lines[-1] if lines else f"exit code {execution.exit_code}"
        raise UsageError(f"the tests cannot start in the sandbox: {said}")
    return Seen(execution=execution, report=report)


def collects(run: Run, suite: Seen, targets: bool) -> None:
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


def alike(outcomes: Sequence[Mapping[str, str]], prints: Sequence[str]) -> None:
    """Raises `Exhausted` unless every run had the same outcomes and fingerprint as the first."""
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


def in_time(killed_by: str | None, what: str, seconds: float, key: str) -> None:
    """Raises `Exhausted` if a limit ended it, naming the setting that allows more."""
    if killed_by in ("wall", "cpu"):
        raise Exhausted(
            StopReason.JUDGE_UNRELIABLE,
            f"{what} did not end within {seconds:g} seconds on the tree as it is; "
            f"raise {key}, or name a smaller target",
        )
