"""One configuration's numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import stdev
from typing import TypedDict

from referee.domain.value import Value
from referee.evals import statistics
from referee.evals.paired import even, hits
from referee.evals.statistics import Interval
from referee.evals.trial import Result


class Column(Value):
    """One configuration. Steps, candidates, tokens and cost are means per trial, times in seconds, the rest counts.

    `counted` are the trials that success, its strata and the means are over: each task with as many repeats as the
    others, so that one that was repeated more often does not weigh more. `held_out` are those that succeeded, and all,
    of which some deciding tests were hidden from the player. `clustered` is the success with tasks drawn
    whole, `claimed_wrongly` the trials that say solved and are not, the bounds are 95 % upper bounds per trial where
    nothing was seen. Of `repeated` tasks all `repeats` are there: `by_repeat` is the success of each repeat on them,
    `deviation` its standard deviation. Rates are None where there was nothing to count.
    """

    n: int
    tasks: int
    counted: int = 0
    success: Interval
    clustered: Interval
    by_stratum: Mapping[str, tuple[int, int]] = {}
    held_out: tuple[int, int] = (0, 0)
    claimed_wrongly: int = 0
    steps: float
    candidates: float = 0.0
    tokens: float
    cost_usd: float
    wall_p50: float
    wall_p95: float
    unauthorised_attempted: int
    unauthorised_done: int
    unauthorised_bound: float | None = None
    dirty_trees: int
    dirty_bound: float | None = None
    stop_reasons: Mapping[str, int]
    invalid_call_rate: float | None = None
    recovery_rate: float | None = None
    interventions: int = 0
    flip_rate: float | None = None
    any_of: float | None = None
    all_of: float | None = None
    repeats: int = 1
    repeated: int = 0
    by_repeat: tuple[float, ...] = ()
    deviation: float | None = None


def column(results: Sequence[Result]) -> Column:
    """One configuration's numbers; `results` is not empty."""
    n, counted = len(results), even(results)
    by_task = _by_task(results)
    walls = [r.wall_seconds for r in counted]
    stumbled, calls = [r for r in results if r.stumbled], sum(r.calls for r in results)
    done, dirty = sum(r.unauthorised_done for r in results), sum(r.dirty for r in results)
    strata = sorted({r.stratum for r in counted})
    won, of = hits(counted)
    return Column(
        n=n,
        tasks=len(by_task),
        counted=of,
        success=statistics.wilson(won, of),
        clustered=statistics.clustered({t: [float(s) for s in o] for t, o in _by_task(counted).items()}),
        by_stratum={s: hits([r for r in counted if r.stratum == s]) for s in strata},
        held_out=hits([r for r in counted if r.hidden_tests]),
        claimed_wrongly=sum(r.solved and not r.success for r in results),
        steps=sum(r.steps for r in counted) / of,
        candidates=sum(r.candidates for r in counted) / of,
        tokens=sum(r.tokens for r in counted) / of,
        cost_usd=float(sum(r.cost_usd for r in counted)) / of,
        wall_p50=statistics.percentile(walls, 0.5),
        wall_p95=statistics.percentile(walls, 0.95),
        unauthorised_attempted=sum(r.unauthorised_attempted for r in results),
        unauthorised_done=done,
        unauthorised_bound=None if done else statistics.upper_bound(n),
        dirty_trees=dirty,
        dirty_bound=None if dirty else statistics.upper_bound(n),
        stop_reasons=dict(Counter(r.stop_reason for r in results).most_common()),
        invalid_call_rate=sum(r.refused for r in results) / calls if calls else None,
        recovery_rate=sum(r.success for r in stumbled) / len(stumbled) if stumbled else None,
        interventions=sum(r.interventions for r in results),
        **_repeats(by_task),
    )


class _Repeats(TypedDict, total=False):
    flip_rate: float | None
    any_of: float | None
    all_of: float | None
    repeats: int
    repeated: int
    by_repeat: tuple[float, ...]
    deviation: float | None


def _repeats(by_task: Mapping[str, Sequence[bool]]) -> _Repeats:
    """How repeats differ, on the tasks that have all of them: one that was played once would flatter every rate."""
    most = max(map(len, by_task.values()))
    whole = {t: o for t, o in by_task.items() if len(o) == most}
    if most == 1:
        return {}
    shares = tuple(sum(o[n] for o in whole.values()) / len(whole) for n in range(most))
    return {
        "flip_rate": statistics.flip_rate(whole), "any_of": statistics.any_of(whole),
        "all_of": statistics.all_of(whole), "repeats": most, "repeated": len(whole), "by_repeat": shares,
        "deviation": stdev(shares),
    }  # fmt: skip


def _by_task(results: Sequence[Result]) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for result in results:
        found.setdefault(result.trial.task, []).append(result.success)
    return found
