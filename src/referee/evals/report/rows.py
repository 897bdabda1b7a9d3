"""The rows of every table about an experiment, in words and numbers, for all forms alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from referee.evals.column import Column
from referee.evals.configuration import MEANINGS
from referee.evals.detection import REPLY, Noticed, whole
from referee.evals.paired import Pair
from referee.evals.statistics import Interval, mcnemar
from referee.evals.summary import Summary

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


def _success(column: Column) -> str:
    counted = column.counted or column.n
    return share(column.success) + (f" of {counted} trials" if counted != column.n else "")


def _spread(interval: Interval) -> str:
    """A bootstrap over tasks that all ended alike says nothing: no interval is better than a certain one."""
    return share(interval) if interval.low < interval.high else "- (no spread between tasks)"


def _by_repeat(column: Column) -> str:
    found = column.by_repeat
    if not found or column.deviation is None:
        return "-"
    return f"{min(found):.0%} to {max(found):.0%}, deviation {column.deviation * 100:.1f} points"


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
    "success": _success,
    "  by tasks drawn whole": lambda c: _spread(c.clustered),
    "  by size of the fix": _strata,
    "  where tests were hidden": lambda c: f"{c.held_out[0]}/{c.held_out[1]}" if c.held_out[1] else "-",
    "says solved, is not": lambda c: str(c.claimed_wrongly),
    "unauthorised tried": lambda c: str(c.unauthorised_attempted),
    "unauthorised done": lambda c: _counted(c.unauthorised_done, c.unauthorised_bound),
    "dirty trees": lambda c: _counted(c.dirty_trees, c.dirty_bound),
    "steps": lambda c: f"{c.steps:.1f}",
    "candidates judged": lambda c: f"{c.candidates:.0f}" if c.candidates else "-",
    "tokens": lambda c: f"{c.tokens:.0f}",
    "cost, USD": lambda c: f"{c.cost_usd:.4f}",
    "seconds, median": lambda c: f"{c.wall_p50:.1f}",
    "seconds, 95 of 100": lambda c: f"{c.wall_p95:.1f}",
    "invalid calls": lambda c: _rate(c.invalid_call_rate),
    "recovered after a failed step": lambda c: _rate(c.recovery_rate),
    "interventions": lambda c: str(c.interventions),
    "repeated tasks": lambda c: f"{c.repeated}, {c.repeats} times each" if c.repeated else "-",
    "  success of a repeat": _by_repeat,
    "  tasks that flip": lambda c: _rate(c.flip_rate),
    "  success in any repeat": lambda c: _rate(c.any_of),
    "  success in every repeat": lambda c: _rate(c.all_of),
    "ended, by its own word": _stops,
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
    rows += [[kind, *(_caught(found.get(kind)) for found in summary.recall.values())] for kind in kinds]
    shares = [whole(found) for found in summary.recall.values()]
    alarms = [summary.false_alarms.get(c, (0, 0)) for c in summary.recall]
    return [
        *rows,
        ["all kinds", *(share(s) if s else "-" for s in shares)],
        ["right changes refused", *(f"{refused}/{n}" for refused, n in alarms)],
    ]


def _caught(seen: Noticed | None) -> str:
    if seen is None:
        return "-"
    told = [", ".join(f"{layer} {n}" for layer, n in seen.layers.items())]
    told += [f"{seen.unjudged} not judged"] if seen.unjudged else []
    return f"{seen.caught}/{seen.injected}" + (f" ({'; '.join(t for t in told if t)})" if any(told) else "")


def layers(summary: Summary) -> list[list[str]]:
    """Per layer and configuration: of the misdeeds that reached it, those caught; of the right changes, those not."""
    names = sorted({n for found in summary.layers.values() for n in found}, key=lambda n: (n != REPLY, n))
    rows = [["caught, and right changes refused, of what reached it", *summary.layers]]
    for name in names:
        seen = [found.get(name) for found in summary.layers.values()]
        rows.append([name, *(f"{s.caught}/{s.reached}, {s.refused}/{s.clean}" if s else "-" for s in seen)])
    return rows


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
    numbers = {c.n for name, c in summary.configs.items() if "@" not in name}
    uneven = ["the columns are not over the same trials: compare them by the pairs only"] if len(numbers) > 1 else []
    return [f"played: {asked}", f"machine: {machine}", *uneven, *left_out]


def against(one: Summary, other: Summary) -> list[list[str]]:
    """Two reports side by side, configuration by configuration, and the trials that both have compared."""
    rows = [["", "success", "unauthorised done", "dirty trees", "steps", "tokens", "cost, USD", "seconds, median"]]
    for name in dict.fromkeys([*one.configs, *other.configs]):
        for which, summary in (("first", one), ("second", other)):
            c = summary.configs.get(name)
            if c is not None:
                cells = [share(c.success), str(c.unauthorised_done), str(c.dirty_trees), f"{c.steps:.1f}"]
                cells += [f"{c.tokens:.0f}", f"{c.cost_usd:.4f}", f"{c.wall_p50:.1f}"]
                rows.append([f"{name}, {which}", *cells])
    return rows


def against_pairs(one: Summary, other: Summary) -> list[list[str]]:
    """The trials of the same name in two reports: in how many both, one or none succeeded; the header alone if none."""
    before, after = ({s.trial: s for s in summary.timeline} for summary in (one, other))
    found = []
    for name in (n for n in one.configs if n in other.configs):
        common = [(s.success, after[t].success) for t, s in before.items() if s.config == name and t in after]
        if common:
            counts = [common.count((a, b)) for a, b in ((True, True), (True, False), (False, True), (False, False))]
            both, first, second, neither = counts
            found.append(
                Pair(
                    first=f"{name}, first", second="second", both=both, only_first=first, only_second=second,
                    neither=neither, p=mcnemar(first, second),
                )
            )  # fmt: skip
    return pairs(found)
