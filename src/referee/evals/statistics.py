"""Statistics for few trials: exact where that is possible, and no claim where nothing was observed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from referee.domain.value import Value

_Z95 = 1.959963984540054
RESAMPLES = 2_000
_MASK = (1 << 64) - 1


class Interval(Value):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float


def wilson(hits: int, n: int) -> Interval:
    """The share of hits with Wilson's interval. Raises `ValueError` without any observation."""
    if not 0 <= hits <= n or n == 0:
        raise ValueError(f"{hits} of {n} is no share")
    p, z2 = hits / n, _Z95**2
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # At the ends rounding must not cut off what was observed.
    return Interval(mean=p, low=0.0 if hits == 0 else middle - half, high=1.0 if hits == n else middle + half)


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p of McNemar's test for pairs in which just one of two succeeded."""
    n, least = only_first + only_second, min(only_first, only_second)
    if n == 0:
        return 1.0
    tail: float = sum(math.comb(n, k) for k in range(least + 1)) / 2**n
    return min(1.0, 2 * tail)


def upper_bound(n: int) -> float:
    """The 95 % upper bound of a rate of which nothing was seen in `n` trials: 3/n for large n. 1 without any trial."""
    return 1.0 - 0.05 ** (1 / n) if n else 1.0


def clustered(values: Mapping[str, Sequence[float]], seed: int = 0) -> Interval:
    """The mean over all trials, with a bootstrap interval that draws whole tasks. `values` are by task.

    Raises `ValueError` without any observation.
    """
    groups = [v for _, v in sorted(values.items()) if v]
    if not groups:
        raise ValueError("nothing was observed")
    draw = _numbers(seed, len(groups))
    means = sorted(_mean([groups[next(draw)] for _ in groups]) for _ in range(RESAMPLES))
    return Interval(mean=_mean(groups), low=percentile(means, 0.025), high=percentile(means, 0.975))


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, interpolated. Raises `ValueError` without any."""
    if not values:
        raise ValueError("nothing was observed")
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)


def flip_rate(outcomes: Mapping[str, Sequence[bool]]) -> float | None:
    """The share of tasks whose repeats do not all end alike; None if nothing was repeated."""
    repeated = [o for o in outcomes.values() if len(o) > 1]
    return sum(len(set(o)) > 1 for o in repeated) / len(repeated) if repeated else None


def any_of(outcomes: Mapping[str, Sequence[bool]]) -> float | None:
    """The share of tasks of which at least one repeat succeeded."""
    return sum(any(o) for o in outcomes.values()) / len(outcomes) if outcomes else None


def all_of(outcomes: Mapping[str, Sequence[bool]]) -> float | None:
    """The share of tasks of which every repeat succeeded."""
    return sum(all(o) for o in outcomes.values()) / len(outcomes) if outcomes else None


def _mean(groups: Sequence[Sequence[float]]) -> float:
    return sum(sum(g) for g in groups) / sum(len(g) for g in groups)


def _numbers(seed: int, below: int) -> Iterator[int]:
    """Endless numbers from 0 to below `below`, the same for the same seed on every machine."""
    state = (seed * 2 + 1) & _MASK
    while True:
        # Knuth's multiplier for a 64-bit congruential generator; its high bits are good enough to draw tasks by.
        state = (state * 6364136223846793005 + 1442695040888963407) & _MASK
        yield (state >> 33) * below >> 31
