"""The suites of other languages on the unpatched tree: what fails, alike each time, and what must not get worse."""

from __future__ import annotations

from collections.abc import Sequence

from referee.domain.errors import Exhausted, UsageError
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.reason import StopReason
from referee.domain.value import Value
from referee.domain.verdict import CheckResult, fingerprint
from referee.judge import facts
from referee.judge.bench import Bench
from referee.judge.carry import execute
from referee.judge.checks import SuiteCheck
from referee.judge.seen import alike, in_time
from referee.judge.settings import SUITE_KEY, TARGET_KEY
from referee.judge.suites.heard import Heard
from referee.judge.suites.named import meant
from referee.judge.suites.suite import JAVASCRIPT, Suite
from referee.kernel.run import Run


class Ready(Value):
    """A suite's two checks, of its targets (if it has any) and as a whole, and how the targets fail now.

    `left_out` says why it cannot judge.
    """

    checks: tuple[SuiteCheck, ...] = ()
    failures: tuple[CheckResult, ...] = ()
    targets: tuple[str, ...] = ()
    left_out: str = ""


def ready(run: Run, bench: Bench, suite: SuiteCheck, named: tuple[str, ...], *, seek: bool, alone: bool) -> Ready:
    """Look at one suite. With `seek`, what fails is the target where none is named.

    `alone` says that Python's tests do not judge here: then what does not even load is a target too.

    Raises `UsageError` if a target of its cannot run, and `Exhausted` if it cannot be relied on.
    """
    try:
        whole = _look(run, bench, suite)
    except UsageError as wrong:
        if named:
            raise
        return Ready(left_out=f"{suite.name} is left out: {wrong}")
    except Exhausted as slow:
        if named or alone or slow.reason is not StopReason.JUDGE_UNRELIABLE:
            raise
        return Ready(left_out=f"{suite.name} is left out: {slow}")
    suite = _informed(run, bench, suite, whole)
    known, broken = whole.outcomes, suite.broken
    ids = meant(suite.suite, named, known, loaded=suite.complete)
    if not named and seek:
        ids = tuple(t for t, o in known.items() if o == "failed" and t not in suite.flaky)
    targets = named or (*ids, *(broken if alone and seek else ()))
    return _aimed(run, bench, suite, (ids, named, targets)) if targets else Ready(checks=(suite,))


def _informed(run: Run, bench: Bench, suite: SuiteCheck, whole: Heard) -> SuiteCheck:
    """The suite with what the unpatched tree does: what passed must pass again."""
    if not whole.bitten:
        run.note(f"{suite.name}: the judge's own failing test does not fail here; it is not counted on")
    flaky = tuple(dict.fromkeys((*suite.flaky, *facts.known_flaky(run, bench.base.tree))))
    broken = tuple(f.id for f in whole.findings if f.id not in whole.outcomes)
    update = {
        "known": dict(whole.outcomes), "bites": whole.bitten, "broken": broken, "complete": not broken, "flaky": flaky,
        "must": tuple(t for t, o in whole.outcomes.items() if o == "passed" and t not in flaky),
    }  # fmt: skip
    return suite.model_copy(update=update)


def _aimed(run: Run, bench: Bench, suite: SuiteCheck, aim: tuple[tuple[str, ...], ...]) -> Ready:
    """The suite, and its targets by themselves, which fail alike."""
    ids, named, targets = aim
    need_not = _still_broken(suite.suite, suite.broken, targets)
    chosen = suite.suite.chosen(ids, named) if suite.complete else ()
    update = {"broken": need_not, "aims": named, "must": tuple(dict.fromkeys((*suite.must, *ids)))}
    suite = suite.model_copy(update=update)
    seconds = bench.settings.target_seconds
    target = suite.model_copy(update={"layer": Layer.TARGET, "seconds": seconds, "must": ids, "chosen": chosen})
    return Ready(checks=(target, suite), failures=_confirmed(run, bench, target, targets), targets=targets)


def _still_broken(suite: Suite, broken: tuple[str, ...], targets: Sequence[str]) -> tuple[str, ...]:
    """What did not load and need not: files without a target. A program or package is compiled as a whole."""
    if suite.kind not in JAVASCRIPT:
        return ()
    return tuple(b for b in broken if not any(t == b or t.startswith(f"{b} > ") for t in targets))


def _look(run: Run, bench: Bench, suite: SuiteCheck) -> Heard:
    """The whole suite once."""
    run.progress("check", {"check": suite.name, "layer": suite.layer.value, "baseline": True})
    command = suite.command(bench.base, Patch())
    if command is None:
        raise UsageError(f"{suite.name} has nothing to run")
    execution = execute(run, suite.name, command)
    in_time(execution.killed_by, f"the suite {suite.name}", suite.seconds, SUITE_KEY)
    told = suite.heard(execution)
    if told.strange or not (told.outcomes or told.findings):
        detail = f" ({'; '.join(told.tail[-3:])})" if told.tail else ""
        why = f"{told.strange or 'no test ran'}{detail}"
        raise UsageError(f"{suite.name} cannot judge here: {why}; mend that, or leave it out with skip in referee.toml")
    return told


def _confirmed(run: Run, bench: Bench, target: SuiteCheck, named: Sequence[str]) -> tuple[CheckResult, ...]:
    """The target's failure, the same every time."""
    seen, results = [], []
    for _ in range(bench.settings.repeats):
        run.progress("check", {"check": target.name, "layer": target.layer.value, "baseline": True})
        command = target.command(bench.base, Patch())
        if command is None:
            raise UsageError(f"{target.name} has nothing to run")
        execution = execute(run, target.name, command)
        in_time(execution.killed_by, f"the target of {target.name}", target.seconds, TARGET_KEY)
        told = target.heard(execution)
        seen.append({t: told.outcomes.get(t, "missing") for t in target.must})
        results.append(target.read(execution))
    alike(seen, [fingerprint(r.findings) for r in results])
    if not results[0].findings:
        what = ", ".join(named)
        raise Exhausted(StopReason.NOT_REPRODUCED, f"{what} passes on the tree as it is: there is nothing to repair")
    return (results[0],)
