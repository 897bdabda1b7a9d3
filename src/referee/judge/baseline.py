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
from referee.judge.selection.record import known_map
from referee.judge.selection.rules import file_of
from referee.judge.settings import TEST_KEY
from referee.judge.targets import exist
from referee.kernel.run import Run

_HOT = 20  # files of targets that are compiled once for all candidates


def with_tests(run: Run, bench: Bench, ids: tuple[str, ...], demanded: bool) -> Bench:
    """Find out what fails, that it fails alike, and what the whole suite does."""
    named = bool(ids) or demanded
    bench = bench.model_copy(update={"reached": known_map(run, bench.project, bench.base.tree)})
    first = None
    if ids:
        bench, first = _warmly(run, bench, ids)
        exist(run, bench, ids, first.report)
    suite = _suite(run, bench, recall=named)
    collects(run, suite, named)
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
    suite = _suite(run, bench, recall=True)
    collects(run, suite, targets=False)
    flaky = {*bench.settings.flaky, *suite.report.flaky, *facts.known_flaky(run, bench.base.tree)}
    update = {
        "known": suite.known, "suite_ms": suite.execution.duration_ms, "flaky": tuple(sorted(flaky)),
        "test_seconds": test_seconds(suite.report, bench.settings.test_seconds),
        "reached": known_map(run, bench.project, bench.base.tree),
    }  # fmt: skip
    return bench.model_copy(update=update)


def _warmly(run: Run, bench: Bench, ids: tuple[str, ...]) -> tuple[Bench, Seen]:
    """The first look at tests on the warm process; if that must not be forked, afresh, as from then on."""
    hot = tuple(f for f in dict.fromkeys(map(file_of, ids)) if f.endswith(".py"))[:_HOT]
    bench = bench.model_copy(update={"project": bench.project.model_copy(update={"hot": hot})})
    seen = look(run, bench, ids)
    why = seen.report.unforkable
    if not why:
        return bench, seen
    run.note(f"no warm judge here, so every candidate costs a fresh start: {', '.join(why)} forbids forking")
    bench = bench.model_copy(update={"project": bench.project.model_copy(update={"forkable": False})})
    return bench, look(run, bench, ids)


def _suite(run: Run, bench: Bench, *, recall: bool) -> Seen:
    """The whole suite; or, where it need not say what the target is, what an earlier run on the same tree saw of it."""
    key = facts.key_of("suite", bench.project, suite_command(bench))
    known = facts.known_suite(run, key) if recall else None
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
    looks = bench.settings.repeats - (first is None)
    if first is None:
        bench, first = _warmly(run, bench, bench.targets)
    whole = not suite.report.broken and "missing" not in _outcomes(bench, suite).values()
    hung = _hung(run, bench, first)
    again = tuple(t for t in bench.targets if t not in hung or not whole)
    seen = [first]
    while again and len(seen) < looks - 1:
        seen.append(look(run, bench, again))
    seen += [look(run, bench, again[::-1])] if again else []
    ordered = False
    if len(again) > 1 and not _same(bench, again, first, seen[-1]):
        # Not alike for whatever reason; in the old order once more, to tell chance from order.
        seen[-1] = look(run, bench, again)
        ordered = _same(bench, again, first, seen[-1])
        if ordered:
            run.note("the failing tests depend on the order they run in; they are run in the order of the suite")
    outcomes = [_outcomes(bench, s, () if s is first else again) for s in seen]
    alike([*([_outcomes(bench, suite)] if whole else []), *outcomes], [_print(bench, s, again) for s in seen])
    took = max(s.execution.duration_ms for s in seen)
    known = merged([bench.known, *(s.known for s in seen)])
    if not known.canaries:
        run.note("the judge's own failing tests do not fail in this project; they are not counted on")
    update = {"failures": (_plain(bench, first),), "target_ms": took, "known": known, "ordered": ordered}
    return bench.model_copy(update=update)


def _hung(run: Run, bench: Bench, seen: Seen) -> tuple[str, ...]:
    """Targets that the limit for one test ended: once in the suite and once alone is waiting enough for them."""
    hung = tuple(t for t in seen.report.slow if t in bench.expected.ids)
    if hung:
        run.note(f"{', '.join(hung)}: ended by the limit for one test; if it only needs more time, raise {TEST_KEY}")
    return hung


def _outcomes(bench: Bench, seen: Seen, only: tuple[str, ...] = ()) -> dict[str, str]:
    watched: Iterable[str] = only or dict.fromkeys((*bench.expected.ids, *bench.targets))
    return {t: seen.report.outcome(t) for t in watched if "::" in t}


def _print(bench: Bench, seen: Seen, only: tuple[str, ...]) -> str:
    """The fingerprint, without targets that were not asked again."""
    return fingerprint([f for f in _plain(bench, seen).findings if f.id in only or f.id not in bench.targets])


def _same(bench: Bench, ids: tuple[str, ...], one: Seen, other: Seen) -> bool:
    ended = _outcomes(bench, one, ids) == _outcomes(bench, other, ids)
    return ended and _print(bench, one, ids) == _print(bench, other, ids)


def _plain(bench: Bench, seen: Seen) -> CheckResult:
    """The targets' failures with nothing known beforehand."""
    report = seen.report
    known = Known(tampering=report.tampering, plugins=report.plugins, canaries=seen.known.canaries)
    evidence = Evidence(
        check="pytest", layer=Layer.TARGET, execution=seen.execution, expected=bench.expected, known=known
    )
    return ruling.rule(evidence, report)
