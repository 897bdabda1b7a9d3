"""From results to `referee.bench/1`: one column per configuration, comparisons, recall, sensitivity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Literal

from pydantic import Field

from referee.domain.report import Document
from referee.domain.value import Value
from referee.evals import statistics
from referee.evals.adversary.kinds import Kind
from referee.evals.statistics import Interval
from referee.evals.trial import Result


class Column(Value):
    """One configuration. Steps, tokens and cost are means per trial, times in seconds, the rest counts.

    `clustered` is the success with tasks drawn whole, `claimed_wrongly` the trials that say solved and are not, the
    bounds are 95 % upper bounds per trial where nothing was seen. Rates are None where there was nothing to count.
    """

    n: int
    tasks: int
    success: Interval
    clustered: Interval
    by_stratum: Mapping[str, tuple[int, int]] = {}
    claimed_wrongly: int = 0
    steps: float
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


class Pair(Value):
    """Two configurations on the same tasks and seeds: in how many both, one or none succeeded; McNemar's exact p."""

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    neither: int
    p: float


class Noticed(Value):
    """Of one kind of misbehaviour in one configuration: how often it happened, was caught, and by which layer."""

    injected: int
    caught: int
    layers: Mapping[str, int]


class Span(Value):
    """When a trial was played: seconds from the first one's start, and how long it took."""

    trial: str
    config: str
    start: float
    seconds: float
    success: bool


class Summary(Document):
    """All results of an experiment. `simulated` says that the player was made up; `skipped` are tasks left out."""

    schema_name: Literal["referee.bench/1"] = Field(default="referee.bench/1", alias="schema")
    configs: Mapping[str, Column]
    player: str
    simulated: bool = False
    pairs: tuple[Pair, ...] = ()
    recall: Mapping[str, Mapping[str, Noticed]] = {}
    false_alarms: Mapping[str, tuple[int, int]] = {}
    sensitivity: Mapping[str, Mapping[int, Interval]] = {}
    timeline: tuple[Span, ...] = ()
    skipped: Mapping[str, str] = {}
    asked: Mapping[str, str] = {}
    machine: Mapping[str, str] = {}


def summarise(results: Sequence[Result], told: Mapping[str, object]) -> Summary:
    """The summary of results; `told` are the fields that only the caller knows."""
    by_config: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda r: (r.trial.config, r.trial.task, r.trial.repeat)):
        by_config.setdefault(result.trial.config, []).append(result)
    main = {c: r for c, r in by_config.items() if "@" not in c}
    return Summary.model_validate(
        {
            **told,
            "configs": {name: column(found) for name, found in by_config.items()},
            "pairs": [pair(main[a], main[b]) for a, b in combinations(main, 2)],
            "recall": {name: _noticed(found) for name, found in by_config.items() if any(r.injected for r in found)},
            "false_alarms": {n: _alarms(found) for n, found in by_config.items() if any(r.injected for r in found)},
            "sensitivity": _sensitivity(by_config),
            "timeline": _timeline(results),
        }
    )


def column(results: Sequence[Result]) -> Column:
    """One configuration's numbers; `results` is not empty."""
    n = len(results)
    by_task = _by_task(results)
    walls = [r.wall_seconds for r in results]
    stumbled, calls = [r for r in results if r.stumbled], sum(r.calls for r in results)
    done, dirty = sum(r.unauthorised_done for r in results), sum(r.dirty for r in results)
    repeats = max(len(o) for o in by_task.values())
    strata = sorted({r.stratum for r in results})
    return Column(
        n=n,
        tasks=len(by_task),
        success=statistics.wilson(sum(r.success for r in results), n),
        clustered=statistics.clustered({t: [float(s) for s in o] for t, o in by_task.items()}),
        by_stratum={s: _hits([r for r in results if r.stratum == s]) for s in strata},
        claimed_wrongly=sum(r.solved and not r.success for r in results),
        steps=sum(r.steps for r in results) / n,
        tokens=sum(r.tokens for r in results) / n,
        cost_usd=float(sum(r.cost_usd for r in results)) / n,
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
        flip_rate=statistics.flip_rate(by_task),
        any_of=statistics.any_of(by_task) if repeats > 1 else None,
        all_of=statistics.all_of(by_task) if repeats > 1 else None,
        repeats=repeats,
    )


def pair(first: Sequence[Result], second: Sequence[Result]) -> Pair:
    """Two configurations compared on the tasks and repeats that both have."""
    one = {(r.trial.task, r.trial.repeat): r.success for r in first}
    other = {(r.trial.task, r.trial.repeat): r.success for r in second}
    seen = Counter((one[k], other[k]) for k in one if k in other)
    only_first, only_second = seen[True, False], seen[False, True]
    return Pair(
        first=first[0].trial.config, second=second[0].trial.config, both=seen[True, True], only_first=only_first,
        only_second=only_second, neither=seen[False, False], p=statistics.mcnemar(only_first, only_second),
    )  # fmt: skip


def _timeline(results: Sequence[Result]) -> tuple[Span, ...]:
    dated = [(datetime.fromisoformat(r.started_at), r) for r in results if r.started_at]
    begun = sorted(dated, key=lambda pair: pair[0])
    return tuple(
        Span(
            trial=r.trial.id, config=r.trial.config, start=(at - begun[0][0]).total_seconds(), seconds=r.wall_seconds,
            success=r.success,
        )
        for at, r in begun
    )  # fmt: skip


def _by_task(results: Sequence[Result]) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for result in results:
        found.setdefault(result.trial.task, []).append(result.success)
    return found


def _hits(results: Sequence[Result]) -> tuple[int, int]:
    return sum(r.success for r in results), len(results)


def _noticed(results: Sequence[Result]) -> dict[str, Noticed]:
    found: dict[str, Noticed] = {}
    for kind in (k for k in Kind if k is not Kind.FIX):
        seen = [i for r in results for i in r.injected if i.kind == kind]
        layers = Counter(i.layer for i in seen if i.caught)
        if seen:
            found[kind.value] = Noticed(injected=len(seen), caught=sum(i.caught for i in seen), layers=dict(layers))
    return found


def _alarms(results: Sequence[Result]) -> tuple[int, int]:
    """How many right changes were refused, of how many that were judged."""
    fixes = [i for r in results for i in r.injected if i.kind == Kind.FIX and i.layer != "budget"]
    return sum(i.caught for i in fixes), len(fixes)


def _sensitivity(by_config: Mapping[str, Sequence[Result]]) -> dict[str, dict[int, Interval]]:
    """Success by the largest number of steps, for configurations that were played with several."""
    found: dict[str, dict[int, Interval]] = {}
    for name, results in by_config.items():
        letter, _, steps = name.partition("@")
        if steps:
            hits, n = _hits(results)
            found.setdefault(letter, {})[int(steps)] = statistics.wilson(hits, n)
    return {letter: dict(sorted(points.items())) for letter, points in found.items()}
