"""The rows of every table about an experiment, in words and numbers, for all forms alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from referee.evals.configuration import MEANINGS
from referee.evals.statistics import Interval
from referee.evals.summary import Column, Pair, Summary

Table = Sequence[Sequence[str]]
SIMULATION = (
    "This is a simulation: the player is made up and misbehaves at set rates. It shows what the shell stops, and says "
    "nothing about how often real models misbehave or succeed."
)


def meanings(summary: Summary) -> list[str]:
    """What each configuration is."""
    letters = dict.fromkeys(name[0] for name in summary.configs)
    said = [f"{letter}: {MEANINGS[letter]}" for letter in letters]
    steps = [n for n in summary.configs if "@" in n]
    return [*said, f"{', '.join(steps)}: the same with that many steps at most"] if steps else said


def main(summary: Summary) -> list[list[str]]:
    """One row per measure, one column per configuration."""
    columns = list(summary.configs.values())
    rows = [["", *summary.configs]]
    rows += [[label, *(made(c) for c in columns)] for label, made in _MEASURES.items()]
    return [r for r in rows if any(cell != "-" for cell in r[1:])]


def share(interval: Interval) -> str:
    """A share with its interval, in percent."""
    return f"{interval.mean:.0%} [{interval.low:.0%}, {interval.high:.0%}]"


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _counted(count: int, bound: float | None) -> str:
    return str(count) if bound is None else f"{count} (below {bound:.1%} of trials)"


def _stops(column: Column) -> str:
    return ", ".join(f"{reason} {n}" for reason, n in column.stop_reasons.items())


def _strata(column: Column) -> str:
    return ", ".join(f"{name}: {hits}/{n}" for name, (hits, n) in column.by_stratum.items()) or "-"


_MEASURES: Mapping[str, Callable[[Column], str]] = {
    "trials (tasks)": lambda c: f"{c.n} ({c.tasks})",
    "success": lambda c: share(c.success),
    "  by tasks drawn whole": lambda c: share(c.clustered),
    "  by size of the fix": _strata,
    "says solved, is not": lambda c: str(c.claimed_wrongly),
    "unauthorised tried": lambda c: str(c.unauthorised_attempted),
    "unauthorised done": lambda c: _counted(c.unauthorised_done, c.unauthorised_bound),
    "dirty trees": lambda c: _counted(c.dirty_trees, c.dirty_bound),
    "steps": lambda c: f"{c.steps:.1f}",
    "tokens": lambda c: f"{c.tokens:.0f}",
    "cost, USD": lambda c: f"{c.cost_usd:.4f}",
    "seconds, median": lambda c: f"{c.wall_p50:.1f}",
    "seconds, 95 of 100": lambda c: f"{c.wall_p95:.1f}",
    "invalid calls": lambda c: _rate(c.invalid_call_rate),
    "recovered after a failed step": lambda c: _rate(c.recovery_rate),
    "interventions": lambda c: str(c.interventions),
    "tasks that flip": lambda c: _rate(c.flip_rate),
    "any repeat": lambda c: _rate(c.any_of),
    "every repeat": lambda c: _rate(c.all_of),
    "ended with": _stops,
}


def pairs(found: Sequence[Pair]) -> list[list[str]]:
    """Paired comparisons."""
    rows = [["", "both", "only the first", "only the second", "neither", "p (McNemar, exact)"]]
    rows += [
        [f"{p.first}, {p.second}", str(p.both), str(p.only_first), str(p.only_second), str(p.neither), f"{p.p:.3f}"]
        for p in found
    ]
    return rows


def recall(summary: Summary) -> list[list[str]]:
    """Per kind of misbehaviour and configuration: caught of injected, and where."""
    kinds = list(dict.fromkeys(k for found in summary.recall.values() for k in found))
    rows = [["caught of injected", *summary.recall]]
    for kind in kinds:
        cells = []
        for found in summary.recall.values():
            seen = found.get(kind)
            where = ", ".join(f"{layer} {n}" for layer, n in seen.layers.items()) if seen else ""
            cells.append(f"{seen.caught}/{seen.injected}" + (f" ({where})" if where else "") if seen else "-")
        rows.append([kind, *cells])
    alarms = [summary.false_alarms.get(c, (0, 0)) for c in summary.recall]
    return [*rows, ["right changes refused", *(f"{refused}/{n}" for refused, n in alarms)]]


def sensitivity(summary: Summary) -> list[list[str]]:
    """Success by the number of steps allowed."""
    steps = sorted({n for points in summary.sensitivity.values() for n in points})
    rows = [["steps at most", *map(str, steps)]]
    for letter, points in summary.sensitivity.items():
        rows.append([letter, *(share(points[n]) if n in points else "-" for n in steps)])
    return rows


def facts(summary: Summary) -> list[str]:
    """What was played, where."""
    asked = ", ".join(f"{k} {v}" for k, v in summary.asked.items() if v)
    machine = ", ".join(f"{k} {v}" for k, v in summary.machine.items())
    left_out = [f"left out: {task}: {why}" for task, why in summary.skipped.items()]
    return [f"played: {asked}", f"machine: {machine}", *left_out]


def against(one: Summary, other: Summary) -> list[list[str]]:
    """Two reports side by side, configuration by configuration."""
    rows = [["", "success", "unauthorised done", "dirty trees", "steps", "seconds, median"]]
    for name in dict.fromkeys([*one.configs, *other.configs]):
        for which, summary in (("first", one), ("second", other)):
            c = summary.configs.get(name)
            if c is not None:
                cells = [share(c.success), str(c.unauthorised_done), str(c.dirty_trees), f"{c.steps:.1f}"]
                rows.append([f"{name}, {which}", *cells, f"{c.wall_p50:.1f}"])
    return rows
