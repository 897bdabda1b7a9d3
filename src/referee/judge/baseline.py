"""What the tests do on the unpatched tree: which fail and must be mended, and which of them cannot be relied on."""

from __future__ import annotations

from collections.abc import Iterable

from referee.domain.errors import Exhausted
from referee.domain.layer import Layer
from referee.domain.reason import StopReason
from referee.domain.verdict import CheckResult, fingerprint
from referee.judge import facts, ruling
from referee.judge.bench import Bench
from referee.judge.evidence import Evidence, Expected, Known, merged
from referee.judge.expect import expectation, test_seconds
from referee.judge.seen import Seen, alike, collects, look, suite_command
from referee.judge.targets import exist
from referee.kernel.run import Run


def with_tests(run: Run, bench: Bench, ids: tuple[str, ...], demanded: bool) -> Bench:
    """Find out what fails, that it fails alike, and what the whole suite does."""
    first = look(run, bench, ids) if ids else None
    if first is not None:
        exist(run, bench, ids, first.report)
    suite = _suite(run, bench)
    collects(run, suite, bool(ids) or demanded)
    source = first or suite
    marked = {t for s in (suite, first) if s is not None for t in s.report.flaky}
    flaky = {*bench.settings.flaky, *marked, *facts.known_flaky(run, bench.base.tree)}
    expected, targets = expectation(source.report, ids, lambda p: run.read(bench.base.tree, p))
    expected, targets, unsure = _reliable(expected, targets, flaky - set(ids))
    update = {
        "known": merged([s.known for s in (suite, first) if s is not None]), "suite_ms": suite.execution.duration_ms,
        "expected": expected, "targets": targets, "flaky": tuple(sorted(flaky)),
        "test_seconds": test_seconds(suite.report, bench.settings.test_seconds),
    }  # fmt: skip
    bench = bench.model_copy(update=update)
    if targets:
        return _confirmed(run, bench, suite, first)
    if not demanded:
        raise _nothing(ids, source, unsure)
    return bench


def as_it_is(run: Run, bench: Bench) -> Bench:
    """What the whole suite does, with nothing in it to be mended. Raises `UsageError` if it collects nothing."""
    suite = _suite(run, bench)
    collects(run, suite, targets=False)
    flaky = {*bench.settings.flaky, *suite.report.flaky, *facts.known_flaky(run, bench.base.tree)}
    update = {
        "known": suite.known, "suite_ms": suite.execution.duration_ms, "flaky": tuple(sorted(flaky)),
        "test_seconds": test_seconds(suite.report, bench.settings.test_seconds),
    }  # fmt: skip
    return bench.model_copy(update=update)


def _suite(run: Run, bench: Bench) -> Seen:
    """The whole suite, or what an earlier run saw of it on the same tree with the same tools."""
    key = facts.key_of("suite", bench.project, suite_command(bench))
    known = facts.known_suite(run, key)
    if known is not None:
        run.progress("check", {"check": "pytest", "layer": "L5", "baseline": True, "recalled": True})
        return known
    seen = look(run, bench)
    facts.keep_suite(run, key, seen)
    return seen


def _reliable(
    expected: Expected, targets: tuple[str, ...], flaky: set[str]
) -> tuple[Expected, tuple[str, ...], tuple[str, ...]]:
    """Without what is known as flaky and not asked for by name; and which failing tests that leaves out."""
    ids = tuple(i for i in expected.ids if i not in flaky)
    left = tuple(t for t in targets if t not in flaky)
    return expected.model_copy(update={"ids": ids}), left, tuple(t for t in targets if t in flaky)


def _nothing(ids: tuple[str, ...], source: Seen, unsure: tuple[str, ...]) -> Exhausted:
    """Why there is no target."""
    if source.report.broken:
        return Exhausted(StopReason.JUDGE_UNRELIABLE, "the tests die before they end, so nothing says what passes")
    if unsure:
        return Exhausted(StopReason.FLAKY_CHECK, f"only flaky tests are left to repair: {', '.join(unsure[:4])}")
    what = f"{', '.join(ids)} passes" if ids else "the whole suite passes"
    return Exhausted(StopReason.NOT_REPRODUCED, f"{what} on the tree as it is: there is nothing to repair")


def _confirmed(run: Run, bench: Bench, suite: Seen, first: Seen | None) -> Bench:
    """Run the targets until they have failed alike as often as asked, the last time in reverse order."""
    seen = [first] if first is not None else []
    while len(seen) < bench.settings.repeats - (first is None) - 1:
        seen.append(look(run, bench, bench.targets))
    seen.append(look(run, bench, bench.targets[::-1]))
    ordered = False
    if len(bench.targets) > 1 and not _same(bench, seen[0], seen[-1]):
        # Not alike for whatever reason; in the old order once more, to tell chance from order.
        seen[-1] = look(run, bench, bench.targets)
        ordered = _same(bench, seen[0], seen[-1])
        if ordered:
            run.note("the failing tests depend on the order they run in; they are run in the order of the suite")
    results = [_plain(bench, s) for s in seen]
    outcomes = [_outcomes(bench, s) for s in (suite, *seen)]
    if suite.report.broken or any(o == "missing" for o in outcomes[0].values()):
        del outcomes[0]
    alike(outcomes, [fingerprint(r.findings) for r in results])
    took = max(s.execution.duration_ms for s in seen)
    known = merged([bench.known, *(s.known for s in seen)])
    if not known.canaries:
        run.note("the judge's own failing tests do not fail in this project; they are not counted on")
    update = {"failures": (results[0],), "target_ms": took, "known": known, "ordered": ordered}
    return bench.model_copy(update=update)


def _outcomes(bench: Bench, seen: Seen) -> dict[str, str]:
    watched: Iterable[str] = dict.fromkeys((*bench.expected.ids, *bench.targets))
    return {t: seen.report.outcome(t) for t in watched if "::" in t}


def _same(bench: Bench, one: Seen, other: Seen) -> bool:
    prints = [fingerprint(_plain(bench, s).findings) for s in (one, other)]
    return _outcomes(bench, one) == _outcomes(bench, other) and prints[0] == prints[1]


def _plain(bench: Bench, seen: Seen) -> CheckResult:
    """The targets' failures with nothing known beforehand."""
    report = seen.report
    known = Known(tampering=report.tampering, plugins=report.plugins, canaries=seen.known.canaries)
    evidence = Evidence(
        check="pytest", layer=Layer.TARGET, execution=seen.execution, expected=bench.expected, known=known
    )
    return ruling.rule(evidence, report)
