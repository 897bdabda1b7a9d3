"""Trials that can be compared: the same tasks, as often each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from referee.domain.value import Value
from referee.evals import statistics
from referee.evals.trial import Result


class Pair(Value):
    """Two configurations on the same tasks and seeds: in how many both, one or none succeeded; McNemar's exact p."""

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    neither: int
    p: float


def pair(first: Sequence[Result], second: Sequence[Result]) -> Pair | None:
    """Two configurations compared on the tasks and repeats that both have; None if there are none."""
    common = {key(r) for r in first} & {key(r) for r in second}
    one = {key(r): r.success for r in even([r for r in first if key(r) in common])}
    other = {key(r): r.success for r in second}
    if not one:
        return None
    seen = Counter((one[k], other[k]) for k in one)
    only_first, only_second = seen[True, False], seen[False, True]
    return Pair(
        first=first[0].trial.config, second=second[0].trial.config, both=seen[True, True], only_first=only_first,
        only_second=only_second, neither=seen[False, False], p=statistics.mcnemar(only_first, only_second),
    )  # fmt: skip


def key(result: Result) -> tuple[str, int]:
    """The task and the repeat of a trial."""
    return result.trial.task, result.trial.repeat


def even(results: Sequence[Result]) -> list[Result]:
    """As many repeats of every task as all tasks have."""
    found: dict[str, list[Result]] = {}
    for result in sorted(results, key=key):
        found.setdefault(result.trial.task, []).append(result)
    least = min(map(len, found.values()), default=0)
    return [r for rs in found.values() for r in rs[:least]]


def hits(results: Sequence[Result]) -> tuple[int, int]:
    """How many succeeded, of how many."""
    return sum(r.success for r in results), len(results)
