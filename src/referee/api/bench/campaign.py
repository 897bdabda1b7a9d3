"""All trials of an experiment: those that are there already are not played again."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import product

from referee import __version__
from referee.adapters.store.turn import turn
from referee.api.bench.ground import Ground
from referee.api.bench.playing import Player, Table, learnt, play, verified
from referee.api.bench.pool import shared
from referee.api.bench.record import SKIPPED, SUMMARY, keep, left_out, place, read_results
from referee.api.bench.sources import found
from referee.api.recorder import write_whole
from referee.domain.cost import Budget
from referee.domain.errors import UsageError
from referee.domain.value import Value
from referee.evals.configuration import configurations
from referee.evals.summary import Summary, summarise
from referee.evals.task import BenchTask, read_tasks
from referee.evals.trial import Result, Trial

Tell = Callable[[str], None]


class Experiment(Value):
    """What to play: tasks under configurations, by a player. `only` are ids of tasks, none for all; `jobs` at a time.

    `budget` is that of C and D. `out` keeps everything; the same experiment there goes on where it ended.
    """

    tasks: str
    configs: str = "A,B,C,D"
    player: Player
    repeats: int = 1
    repos: str = "."
    out: str
    jobs: int = 1
    seed: int = 0
    budget: Budget = Budget()
    only: tuple[str, ...] = ()

    @property
    def asked(self) -> dict[str, str]:
        """What must stay the same when it goes on."""
        flags = ", ".join(f"{k}={v}" for k, v in sorted(self.player.flags.items()))
        return {
            "player": self.player.name, "flags": flags, "seed": str(self.seed),
            "timeout": f"{self.budget.timeout:g}", "max_steps": str(self.budget.max_steps),
        }  # fmt: skip


def run(experiment: Experiment, tell: Tell) -> Summary:
    """Play what is missing, and sum up. Raises `UsageError` if something else was played in `out`."""
    tasks = [t for t in read_tasks(experiment.tasks) if not experiment.only or t.id in experiment.only]
    if missing := set(experiment.only) - {t.id for t in tasks}:
        raise UsageError(f"there is no task {sorted(missing)[0]} in {experiment.tasks}")
    configurations(experiment.configs, experiment.budget)
    os.makedirs(experiment.out, exist_ok=True)
    _same(experiment)
    todo = [t for t in tasks if any(_missing(experiment, t))]
    with ExitStack() as stack:
        try:
            stack.enter_context(turn(os.path.join(experiment.out, "turn.lock"), "the experiment", None))
        except UsageError:
            raise UsageError(f"another `referee bench run` works in {experiment.out}; wait until it ends") from None
        for task in shared(partial(play_task, experiment), todo, experiment.jobs, tell):
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


def _missing(experiment: Experiment, task: BenchTask) -> Iterator[Trial]:
    names = [c.name for c in configurations(experiment.configs, experiment.budget)]
    # Whoever comes first pays for what later trials of the task find known, so each configuration comes first in turn.
    turn = sum(task.id.encode()) % len(names)
    for repeat, name in product(range(1, experiment.repeats + 1), [*names[turn:], *names[:turn]]):
        trial = Trial(task=task.id, config=name, repeat=repeat)
        if not os.path.isfile(os.path.join(place(experiment.out, trial), "trial.json")):
            yield trial


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


def play_task(experiment: Experiment, task: BenchTask) -> str:
    """Play every trial of a task that is missing; its id. A task left out before is looked at anew."""
    folder = os.path.join(os.path.realpath(experiment.out), "work", task.id)
    truth_folder = os.path.join(folder, "truth")
    shutil.rmtree(truth_folder, ignore_errors=True)  # of a worker that was killed
    try:
        scene = found(task, experiment.repos)
        os.makedirs(truth_folder)
        ground = Ground(os.path.join(truth_folder, "repository"), scene.right)
    except UsageError as wrong:
        return _leave_out(experiment, task.id, str(wrong))
    with ground as truth:
        baseline, why = verified(truth, scene)
        if why:
            return _leave_out(experiment, task.id, why)
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(experiment.out, SKIPPED, task.id))
        learnt(folder, truth)
        table = Table(
            folder=folder, scene=scene, truth=truth, baseline=baseline, player=experiment.player,
            seed=experiment.seed, heard={},
        )  # fmt: skip
        named = {c.name: c for c in configurations(experiment.configs, experiment.budget)}
        for trial in list(_missing(experiment, task)):
            keep(experiment.out, play(table, trial, named[trial.config]))
    shutil.rmtree(folder)
    _tidy(folder)
    return task.id


def _leave_out(experiment: Experiment, task: str, why: str) -> str:
    os.makedirs(os.path.join(experiment.out, SKIPPED), exist_ok=True)
    write_whole(os.path.join(experiment.out, SKIPPED, task), why.encode())
    folder = os.path.join(os.path.realpath(experiment.out), "work", task)
    shutil.rmtree(os.path.join(folder, "truth"), ignore_errors=True)
    _tidy(folder)
    return task


def _tidy(folder: str) -> None:
    """Take away what is empty of a task's folder and the one above it."""
    for empty in (folder, os.path.dirname(folder)):
        with suppress(OSError):  # not empty: a trial was cut off, or others are still played
            os.rmdir(empty)
