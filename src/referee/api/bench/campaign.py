"""All trials of an experiment: those that are there already are not played again."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

from referee import __version__
from referee.adapters.store.turn import turn
from referee.api.bench.experiment import Experiment, missing
from referee.api.bench.pool import shared
from referee.api.bench.record import SUMMARY, left_out, read_results
from referee.api.bench.sitting import Tell, play_task
from referee.api.recorder import write_whole
from referee.domain.errors import UsageError
from referee.evals.configuration import configurations
from referee.evals.summary import Summary, summarise
from referee.evals.task import read_tasks
from referee.evals.trial import Result


def run(experiment: Experiment, tell: Tell) -> Summary:
    """Play what is missing, and sum up. Raises `UsageError` if something else was played in `out`."""
    tasks = [t for t in read_tasks(experiment.tasks) if not experiment.only or t.id in experiment.only]
    if unknown := set(experiment.only) - {t.id for t in tasks}:
        raise UsageError(f"there is no task {sorted(unknown)[0]} in {experiment.tasks}")
    configurations(experiment.configs, experiment.budget)
    os.makedirs(experiment.out, exist_ok=True)
    _same(experiment)
    todo = [t for t in tasks if any(missing(experiment, t))]
    with ExitStack() as stack:
        try:
            stack.enter_context(turn(os.path.join(experiment.out, "turn.lock"), "the experiment", None))
        except UsageError:
            raise UsageError(f"another `referee bench run` works in {experiment.out}; wait until it ends") from None
        alone = experiment.jobs == 1  # what goes to another process cannot take along whoever listens
        work = partial(play_task, experiment, tell=tell if alone else None)
        for task in shared(work, todo, experiment.jobs, tell):
            results = read_results(experiment.out)
            tell(_done(task, [r for r in results if r.trial.task == task], left_out(experiment.out).get(task, "")))
            if results:  # whoever stops it here has a report all the same
                summed_up(experiment)
        return summed_up(experiment)


def _done(task: str, results: Sequence[Result], why: str) -> str:
    if why:
        return f"{task}: left out: {why}"
    seconds = sum(r.wall_seconds for r in results)
    return f"{task}: {sum(r.success for r in results)} of {len(results)} trials succeeded, {seconds:.0f} s"


def summed_up(experiment: Experiment) -> Summary:
    """Write `summary.json` from all results that are there."""
    results = read_results(experiment.out)
    skipped = left_out(experiment.out)
    if not results:
        reasons = list(skipped.values())
        raise UsageError(f"nothing was played: {reasons[0] if reasons else 'no trial came to its end'}")
    told = {
        "player": experiment.player.name,
        "simulated": experiment.player.simulated,
        "skipped": skipped,
        "asked": {"tasks": os.path.basename(experiment.tasks), **experiment.asked},
        "machine": {
            "referee": __version__, "python": platform.python_version(), "system": platform.platform(),
            "processors": str(os.cpu_count()), "jobs": str(experiment.jobs),
            "load": f"{os.getloadavg()[1]:.1f}",
        },
    }  # fmt: skip
    summary = summarise(results, told)
    write_whole(os.path.join(experiment.out, SUMMARY), summary.model_dump_json(indent=2).encode() + b"\n")
    return summary


def _same(experiment: Experiment) -> None:
    path = os.path.join(experiment.out, "asked.txt")
    asked = "".join(f"{k}: {v}\n" for k, v in experiment.asked.items())
    if not os.path.lexists(path):
        write_whole(path, asked.encode())
        return
    with open(path, encoding="utf-8") as file:
        before = file.read()
    if before != asked:
        old, new = next((a, b) for a, b in zip(before.split("\n"), asked.split("\n"), strict=False) if a != b)
        raise UsageError(f"{experiment.out} holds another experiment ({old}, now {new}); give --out a new folder")
