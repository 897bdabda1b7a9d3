"""A second look at tests that a patch seems to have broken: some fail on the unpatched tree as well, now and then.

Repeating a failure until it passes would hide real ones (case H5). So the patched tree never gets another chance;
what is asked is whether the unpatched one, on which these tests had passed, always does.
"""

from __future__ import annotations

from referee.domain.finding import Finding, FindingKind
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import facts, plan, stream
from referee.judge.bench import Bench
from referee.judge.plan import TestRun
from referee.kernel.run import Run

_MOST = 12  # a patch that breaks more than a few tests has broken them
_TIMES = 3
_FAILED = ("failed", "error")  # a test that was skipped or not reached has shown nothing
_HINT = "it passed when it was run again on the same patched tree; if it is unreliable, list it under flaky"


def looked_again(run: Run, bench: Bench, patch: Patch, result: CheckResult, seconds: float) -> CheckResult:
    """The result without what is flaky on the unpatched tree too; that is remembered for the tree.

    Of what still counts, it is said if it passes when run again on the patched tree.
    """
    suspects = _suspects(bench, result)
    if not suspects:
        return result
    known = {*facts.known_flaky(run, bench.base.tree)} & {*suspects}
    unsure = set(known)
    for turn in range(_TIMES):
        left = tuple(t for t in suspects if t not in unsure)
        if not left:
            break
        ended = _outcomes(run, bench, Patch(), left[::-1] if turn % 2 else left, seconds)
        unsure |= {t for t in left if ended.get(t) in _FAILED}
    if unsure - known:
        named = ", ".join(sorted(unsure - known))
        run.note(f"flaky on the unpatched tree, so not counted and remembered for it: {named}")
        facts.keep_flaky(run, bench.base.tree, unsure)
    left = tuple(t for t in suspects if t not in unsure)
    ended = _outcomes(run, bench, patch, left, seconds) if left else {}
    lucky = {t for t in left if ended.get(t) == "passed"}
    counting = tuple(_hinted(f) if f.id in lucky else f for f in result.findings if f.id not in unsure)
    update = {
        "findings": counting,
        "known": (*result.known, *(f for f in result.findings if f.id in unsure)),
        "state": result.state if counting else CheckState.PASS,
    }
    return result.model_copy(update=update)


def _suspects(bench: Bench, result: CheckResult) -> tuple[str, ...]:
    """Tests that passed on the unpatched tree and fail now, if nothing else is wrong."""
    if result.state is not CheckState.FAIL or result.killed_by is not None:
        return ()
    ids = tuple(dict.fromkeys(f.id for f in result.findings))
    tests = all(f.kind is FindingKind.FAILURE and bench.known.outcomes.get(f.id) == "passed" for f in result.findings)
    aimed = {*bench.targets, *bench.expected.ids}
    return ids if tests and len(ids) <= _MOST and not aimed & set(ids) else ()


def _outcomes(run: Run, bench: Bench, patch: Patch, ids: tuple[str, ...], seconds: float) -> dict[str, str]:
    """How they end; a run that did not come to its end says nothing of any test."""
    what = TestRun(ids=ids, test_seconds=bench.test_seconds)
    execution = plan.warm(run, bench.project, bench.base, (plan.job(bench.project, patch, what, seconds),))[0]
    report = stream.read(execution.channel, execution.key)
    return {} if report.broken or execution.killed_by else report.outcomes


def _hinted(finding: Finding) -> Finding:
    return finding.model_copy(update={"detail": (*finding.detail, _HINT)})
