"""What candidates are tried against: the target, what passed before, what the code itself promises."""

from __future__ import annotations

from collections.abc import Sequence

from referee.judge import Bench

_HANGING_SECONDS = 2.0  # a test may take this much longer than the slowest needed before
_SLOW_MS, _MANY = 2_000, 4  # targets slower than this together, and this many, are tried on two of them first
_QUICK_MS = 8_000  # a suite quicker than this is run for each candidate that passes the target


def with_targets(bench: Bench, more: Sequence[str]) -> Bench:
    """The bench with more tests that must pass."""
    wanted = bench.expected.model_copy(update={"ids": (*bench.expected.ids, *more)})
    return bench.model_copy(update={"targets": (*bench.targets, *more), "expected": wanted})


def hurried(bench: Bench) -> Bench:
    """Candidates that hang are common: they get little more time than the tests are known to need."""
    slowest = max(bench.target_ms, 1) / 1000
    return bench.model_copy(update={"test_seconds": min(bench.test_seconds, slowest + _HANGING_SECONDS)})


def sample(bench: Bench) -> Bench | None:
    """A few of many slow targets, to refuse most candidates sooner; None where that is not worth it."""
    ids = bench.expected.ids
    if bench.target_ms <= _SLOW_MS or len(ids) < _MANY or bench.expected.files:
        return None
    few = (ids[0], ids[len(ids) // 2])
    expected = bench.expected.model_copy(update={"ids": few})
    return bench.model_copy(update={"targets": few, "expected": expected})


def wider(bench: Bench) -> Bench | None:
    """The bench with what passed before as well: the whole suite, or of a slow one the targets' files; None if empty.

    The gate would refuse what breaks them, and they tell edits apart that the target does not.
    """
    files = {t.partition("::")[0] for t in bench.targets}
    sure = (t for t, o in bench.known.outcomes.items() if o == "passed" and t not in bench.flaky)
    others = [t for t in sure if t not in bench.targets]
    if bench.suite_ms > _QUICK_MS:
        others = [t for t in others if t.partition("::")[0] in files]
    if not others:
        return None
    return with_targets(bench, others).model_copy(update={"target_ms": max(bench.target_ms, bench.suite_ms)})
