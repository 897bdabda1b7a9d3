"""Tests of another language that a patch seems to have broken: some fail on the unpatched tree too, now and then."""

from __future__ import annotations

from referee.domain.finding import FindingKind
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import facts
from referee.judge.bench import Bench
from referee.judge.carry import execute
from referee.judge.checks import SuiteCheck
from referee.kernel.run import Run

_MOST = 12  # a patch that breaks more than a few tests has broken them
_TIMES = 2


def looked_again(run: Run, bench: Bench, check: SuiteCheck, result: CheckResult) -> CheckResult:
    """The result without what fails on the unpatched tree too when asked again; that is remembered for the tree.

    The patched tree gets no second chance.
    """
    suspects = {f.id for f in result.findings}
    known = check.known or {}
    plain = all(f.kind is FindingKind.FAILURE and known.get(f.id) == "passed" for f in result.findings)
    if result.state is not CheckState.FAIL or result.killed_by or not plain or len(suspects) > _MOST:
        return result
    unsure: set[str] = set()
    for _ in range(_TIMES):
        command = check.command(bench.base, Patch())
        told = check.heard(execute(run, check.name, command)) if command else None
        if told is not None and not told.strange:
            unsure |= {t for t in suspects if told.outcomes.get(t) == "failed"}
    if not unsure:
        return result
    run.note(f"flaky on the unpatched tree, so not counted and remembered for it: {', '.join(sorted(unsure))}")
    facts.keep_flaky(run, bench.base.tree, unsure)
    left = tuple(f for f in result.findings if f.id not in unsure)
    aside = tuple(f for f in result.findings if f.id in unsure)
    state = CheckState.FAIL if left else CheckState.PASS
    return result.model_copy(update={"findings": left, "known": (*result.known, *aside), "state": state})
