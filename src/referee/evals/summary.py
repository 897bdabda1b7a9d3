"""From results to `referee.bench/1`: one column per configuration, comparisons, recall, sensitivity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Literal

from pydantic import Field

from referee.domain.report import Document
from referee.domain.value import Value
from referee.evals import statistics
from referee.evals.column import Column, column
from referee.evals.detection import Noticed, Sieve, alarms, noticed, sieves
from referee.evals.paired import Pair, hits, key, pair
from referee.evals.statistics import Interval
from referee.evals.trial import Result


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
    layers: Mapping[str, Mapping[str, Sieve]] = {}
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
    attacked = {c: r for c, r in by_config.items() if any(i.injected for i in r)}
    summary = Summary.model_validate(
        {
            **told,
            "configs": {name: column(found) for name, found in by_config.items()},
            "pairs": [p for a, b in combinations(main, 2) if (p := pair(main[a], main[b])) is not None],
            "recall": {name: noticed(found) for name, found in attacked.items()},
            "false_alarms": {name: alarms(found) for name, found in attacked.items()},
            "layers": {name: sieves(found) for name, found in attacked.items()},
            "timeline": _timeline(results),
        }
    )
    return summary.model_copy(update={"sensitivity": _sensitivity(by_config, summary.asked.get("max_steps", ""))})


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


def _sensitivity(by_config: Mapping[str, Sequence[Result]], usual: str) -> dict[str, dict[int, Interval]]:
    """Success by the largest number of steps, for configurations that were played with several.

    Each curve is over the trials that all its points have. C and D themselves are the point of the `usual` number.
    """
    found: dict[str, dict[int, Interval]] = {}
    for letter in dict.fromkeys(name[0] for name in by_config if "@" in name):
        points = {int(n.partition("@")[2]): r for n, r in by_config.items() if n.startswith(f"{letter}@")}
        if letter in "CD" and usual and letter in by_config:
            points.setdefault(int(usual), by_config[letter])
        common = set.intersection(*({key(r) for r in results} for results in points.values()))
        if common:
            counted = {n: [r for r in results if key(r) in common] for n, results in sorted(points.items())}
            found[letter] = {n: statistics.wilson(*hits(results)) for n, results in counted.items()}
    return found
