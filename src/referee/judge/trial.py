"""Try a patch: the loop's layers, the gate's, or the target alone for many candidates."""

from __future__ import annotations

from collections.abc import Sequence

from referee.actions.execute import Execute
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import affected, again, equalities, plan, ruling
from referee.judge.bench import Bench
from referee.judge.carry import execute
from referee.judge.checks import Check, SuiteCheck, new_only, without_ignored
from referee.judge.evidence import Evidence, Expected
from referee.judge.integrity import integrity
from referee.judge.plan import TestRun
from referee.judge.settings import SUITE_KEY, TARGET_KEY
from referee.judge.strict import cross_examined
from referee.judge.suites import rerun
from referee.kernel.run import Run
from referee.ports import Execution

_LOOP = (Layer.FORMAT, Layer.TYPES, Layer.COMPILE, Layer.TARGET)
_SLACK = 5.0  # seconds granted on top of the time the unpatched tree needed


def try_loop(run: Run, bench: Bench, patch: Patch, pressed: bool) -> tuple[CheckResult, ...]:
    """L0 to L3: every check of a layer runs, the first failing layer is the last. Pressed: the target alone (A3)."""
    first = integrity(run, bench, patch)
    if first.state is not CheckState.PASS:
        return (first,)
    results = [first]
    for layer in (Layer.TARGET,) if pressed else _LOOP:
        tried = [_try(run, bench, check, patch) for check in bench.checks if check.layer is layer]
        if layer is Layer.TARGET and bench.targets:
            tried.append(_target(run, bench, patch))
        results += tried
        if not all(r.clear for r in tried):
            break
    return tuple(results)


def try_gate(run: Run, bench: Bench, patch: Patch, pressed: bool) -> tuple[CheckResult, ...]:
    """L4 and, unless pressed, L5. The gate is never worse than the unpatched tree.

    In the strict tier what passed is cross-examined, pressed or not.
    """
    results: list[CheckResult] = []
    whole = "pytest" in bench.project.uses
    for layer in (Layer.AFFECTED,) if pressed else (Layer.AFFECTED, Layer.SUITE):
        # The suites of other languages have no selection of their own: they run whole, pressed or not.
        due = [c for c in bench.checks if c.layer is layer or (pressed and isinstance(c, SuiteCheck) and c.layer.gate)]
        tried = [_try(run, bench, check, patch) for check in due]
        if whole and layer is Layer.SUITE:
            tried.append(_doubted(run, bench, patch, _suite(run, bench, patch)))
        elif whole and (pressed or bench.suite_ms > affected.WORTH_SELECTING_MS):
            tried.append(_doubted(run, bench, patch, _affected(run, bench, patch, pressed)))
        results += tried
        if not all(r.clear for r in tried):
            return tuple(results)
    if bench.settings.integrity == "strict":
        results.append(cross_examined(run, bench, patch, _seconds(bench, bench.target_ms) + _SLACK))
    return tuple(results)


def _doubted(run: Run, bench: Bench, patch: Patch, result: CheckResult) -> CheckResult:
    return again.looked_again(run, bench, patch, result, bench.settings.target_seconds)


def screen(run: Run, bench: Bench, patches: Sequence[Patch]) -> tuple[CheckResult, ...]:
    """The target check alone for each patch, on warm processes, several at once."""
    if not patches:
        return ()
    refused = {n: r for n, p in enumerate(patches) if (r := integrity(run, bench, p)).state is not CheckState.PASS}
    seconds = _seconds(bench, bench.target_ms)
    judged = [(n, p) for n, p in enumerate(patches) if n not in refused]
    quick = {"full": False}
    jobs = tuple(
        plan.job(bench.project, p, _target_run(run, bench, p).model_copy(update=quick), seconds) for _, p in judged
    )
    if jobs:
        done = plan.warm(run, bench.project, bench.base, jobs, bench.settings.parallel)
        for (n, patch), execution in zip(judged, done, strict=True):
            refused[n] = ruling.rule(_evidence(bench, "pytest", (Layer.TARGET, bench.expected), patch, execution))
    return tuple(refused[n] for n in range(len(patches)))


def _try(run: Run, bench: Bench, check: Check, patch: Patch) -> CheckResult:
    run.progress("check", {"check": check.name, "layer": check.layer.value})
    command = check.command(bench.base, patch)
    if command is None:
        return check.idle("the patch changes nothing this check looks at")
    execution = execute(run, check.name, command)
    result = check.read(execution)
    if not isinstance(check, SuiteCheck):
        read = without_ignored(result, bench.settings.ignore)
        result = new_only(read, bench.known_findings.get(check.name, ()))
    elif check.layer.gate:
        result = rerun.looked_again(run, bench, check, result)
    return logged(run, result, check.raw(execution))


def logged(run: Run, result: CheckResult, raw: bytes) -> CheckResult:
    """The raw output is kept with the record; the result carries its digest."""
    return result.model_copy(update={"log": run.put(raw, durable=False)}) if raw else result


def _seconds(bench: Bench, took_ms: int) -> float:
    """How long a candidate may take: it may be slower than the unpatched tree, not endless."""
    return min(bench.settings.suite_seconds, max(_SLACK, took_ms / 1000 * 4) + _SLACK)


def _target_run(run: Run, bench: Bench, patch: Patch) -> TestRun:
    honest = equalities.unchanged(patch, lambda path: run.read(bench.base.tree, path))
    return TestRun(ids=bench.targets, honest=honest, test_seconds=bench.test_seconds)


def _target(run: Run, bench: Bench, patch: Patch) -> CheckResult:
    what = _target_run(run, bench, patch)
    seconds = min(_seconds(bench, bench.target_ms), bench.settings.target_seconds + _SLACK)
    return _tests(run, bench, patch, what, (Layer.TARGET, bench.expected, seconds))


def _suite(run: Run, bench: Bench, patch: Patch) -> CheckResult:
    what = _target_run(run, bench, patch).model_copy(update={"ids": ()})
    expected = bench.expected.model_copy(update={"whole": True})
    return _tests(run, bench, patch, what, (Layer.SUITE, expected, bench.settings.suite_seconds))


def _affected(run: Run, bench: Bench, patch: Patch, pressed: bool) -> CheckResult:
    """The tests that the patch can reach; all of them only under pressure, since else the suite follows at once."""
    chosen = affected.affected(run, bench, patch)
    if not chosen.ids and not (chosen.everything and pressed):
        note = f"{'the suite decides' if chosen.everything else 'no test is affected'} ({chosen.why})"
        return CheckResult(check="pytest-affected", layer=Layer.AFFECTED, state=CheckState.PASS, note=note)
    sure = {t for t, o in bench.known.outcomes.items() if o == "passed"} - set(bench.flaky)
    ids = tuple(t for t in chosen.tests if t in sure or t in bench.expected.ids)
    expected = Expected(ids=ids, files=bench.expected.files)
    what = _target_run(run, bench, patch).model_copy(update={"ids": chosen.ids})
    seconds = bench.settings.suite_seconds
    made = _tests(run, bench, patch, what, (Layer.AFFECTED, expected, seconds))
    told = f"{made.note}; chosen {chosen.why}" if made.note else f"chosen {chosen.why}"
    return made.model_copy(update={"check": "pytest-affected", "note": told})


def _tests(run: Run, bench: Bench, patch: Patch, what: TestRun, how: tuple[Layer, Expected, float]) -> CheckResult:
    layer, expected, seconds = how
    name = {Layer.SUITE: "pytest-suite", Layer.AFFECTED: "pytest-affected"}.get(layer, "pytest")
    run.progress("check", {"check": name, "layer": layer.value})
    if layer is Layer.TARGET:  # asked every round, so it is worth a process that is warm; the gate starts afresh
        execution = plan.warm(run, bench.project, bench.base, (plan.job(bench.project, patch, what, seconds),))[0]
    else:
        execution = run.perform(Execute(command=plan.command(bench.project, bench.base, patch, what, seconds)))
    key = TARGET_KEY if layer is Layer.TARGET else SUITE_KEY
    evidence = _evidence(bench, name, (layer, expected), patch, execution)
    result = ruling.rule(evidence.model_copy(update={"limit": f"{seconds:g} seconds; raise {key} if that is too few"}))
    return logged(run, result, execution.stdout + execution.stderr)


def _evidence(bench: Bench, name: str, aim: tuple[Layer, Expected], patch: Patch, execution: Execution) -> Evidence:
    layer, expected = aim
    return Evidence(
        check=name,
        layer=layer,
        execution=execution,
        expected=expected,
        known=bench.known,
        touched=bench.touched(patch),
        flaky=bench.flaky,
    )


def named_tests(run: Run, bench: Bench, patch: Patch, named: Sequence[str]) -> CheckResult:
    """Some tests by themselves, for who wants to know before the whole is judged. A file stands for all its tests."""
    known = bench.known.outcomes
    ids = [t for n in named for t in ([k for k in known if k == n or k.startswith((f"{n}::", f"{n}["))] or [n])]
    expected = Expected(ids=tuple(dict.fromkeys(ids)))
    what = _target_run(run, bench, patch).model_copy(update={"ids": tuple(named)})
    return _tests(run, bench, patch, what, (Layer.TARGET, expected, bench.settings.target_seconds))
