"""Tests that were just written: they pass on the code as it is, every time, and break no other test."""

from __future__ import annotations

from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.value import Value
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import ruling
from referee.judge.bench import Bench
from referee.judge.evidence import Evidence, Expected, Known, known_from
from referee.judge.seen import Seen, look
from referee.kernel.run import Run

RERUNS = 20  # runs that must all pass, the first among them


class Fresh(Value):
    """What the judge says of new tests, and the bench with them as targets, for whoever breaks the code they cover."""

    bench: Bench
    ids: tuple[str, ...]
    results: tuple[CheckResult, ...]

    @property
    def clear(self) -> bool:
        """Whether nothing was found against them."""
        return all(r.clear for r in self.results)


def fresh(run: Run, bench: Bench, files: tuple[str, ...], before: Seen) -> Fresh:
    """Judge the tests in `files`; `bench` is of the tree that has them, `before` the suite without them."""
    first = look(run, bench, files)
    report = first.report
    ids = tuple(t for t in report.outcomes if t.partition("::")[0] in files)
    known = Known(tampering=report.tampering, plugins=report.plugins, canaries=known_from(report).canaries)
    expected = Expected(ids=ids, files={} if ids else dict.fromkeys(files, ("test",)))
    bench = bench.model_copy(update={"targets": ids, "expected": expected, "known": known})
    bench = bench.model_copy(update={"target_ms": first.execution.duration_ms})
    said = _passing(bench, first)
    results = [said]
    if said.clear:
        results.append(_alike(run, bench, files, ids))
    if results[-1].clear:
        results.append(_others(run, bench, ids, before))
    return Fresh(bench=bench, ids=ids, results=tuple(results))


def _passing(bench: Bench, seen: Seen) -> CheckResult:
    evidence = Evidence(
        check="new tests", layer=Layer.TARGET, execution=seen.execution, expected=bench.expected, known=bench.known
    )
    return ruling.rule(evidence, seen.report)


def _alike(run: Run, bench: Bench, files: tuple[str, ...], ids: tuple[str, ...]) -> CheckResult:
    """The same tests again and again, every other time in reverse."""
    name, spent = f"{RERUNS} of {RERUNS} reruns", 0
    for n in range(2, RERUNS + 1):
        seen = look(run, bench, ids if n % 2 else ids[::-1])
        spent += seen.execution.duration_ms
        lost = [t for t in ids if seen.report.outcome(t) != "passed"]
        if lost:
            message = f"{lost[0]} passed in run 1 and ended as {seen.report.outcome(lost[0])} in run {n} of {RERUNS}"
            found = Finding(check=name, id=lost[0], path=files[0], message=message, error="flaky", cause="flaky")
            return CheckResult(
                check=name, layer=Layer.TARGET, state=CheckState.FAIL, findings=(found,), duration_ms=spent
            )
    return CheckResult(check=name, layer=Layer.TARGET, state=CheckState.PASS, duration_ms=spent, passed_ids=ids)


def _others(run: Run, bench: Bench, ids: tuple[str, ...], before: Seen) -> CheckResult:
    """The whole suite with the new tests in it: what passed without them still passes."""
    seen = look(run, bench)
    good = [t for t, o in before.report.outcomes.items() if o == "passed"]
    lost = [t for t in (*good, *ids) if seen.report.outcome(t) != "passed"]
    found = tuple(
        Finding(check="pytest-suite", id=t, message=f"{t} fails in the suite with the new tests in it", error="order")
        for t in lost
    )
    state = CheckState.FAIL if found else CheckState.PASS
    took = seen.execution.duration_ms
    return CheckResult(check="pytest-suite", layer=Layer.SUITE, state=state, findings=found, duration_ms=took)
