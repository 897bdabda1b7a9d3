"""All trials of an experiment: those that are there already are not played again."""

from __future__ import annotations

import os
import platform
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from itertools import product
from multiprocessing import active_children, get_context

from referee import __version__
from referee.api.bench.ground import Ground
from referee.api.bench.playing import Player, Table, play, verified
from referee.api.bench.record import Played
from referee.api.bench.sources import found
from referee.api.recorder import write_whole
from referee.domain.cost import Budget
from referee.domain.errors import UsageError, WorldFault
from referee.domain.value import Value
from referee.evals.configuration import configurations
from referee.evals.summary import Summary, summarise
from referee.evals.task import BenchTask, read_tasks
from referee.evals.trial import Result, Trial

Tell = Callable[[str], None]
_SKIPPED = "skipped"
_MOST_DEATHS = 5  # of workers, without one trial between them


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
    todo = [t for t in tasks if any(_missing(experiment, t)) and not _skipped(experiment, t.id)]
    for task in _played(experiment, todo, tell):
        tell(f"{task}: done ({len(read_results(experiment.out))} trials so far)")
    return summed_up(experiment, [t.id for t in tasks])


def summed_up(experiment: Experiment, tasks: Sequence[str]) -> Summary:
    """Write `summary.json` from all results that are there."""
    results = read_results(experiment.out)
    if not results:
        reasons = [w for t in tasks if (w := _skipped(experiment, t))]
        raise UsageError(f"nothing was played: {reasons[0] if reasons else 'no trial came to its end'}")
    told = {
        "player": experiment.player.name,
        "simulated": experiment.player.simulated,
        "skipped": {t: w for t in tasks if (w := _skipped(experiment, t))},
        "asked": {
            "tasks": os.path.basename(experiment.tasks), **experiment.asked, "configs": experiment.configs,
            "repeats": str(experiment.repeats),
        },
        "machine": {
            "referee": __version__, "python": platform.python_version(), "system": platform.platform(),
            "processors": str(os.cpu_count()), "jobs": str(experiment.jobs),
        },
    }  # fmt: skip
    summary = summarise(results, told)
    write_whole(os.path.join(experiment.out, "summary.json"), summary.model_dump_json(indent=2).encode() + b"\n")
    return summary


def read_results(out: str) -> tuple[Result, ...]:
    """The results of every trial in a folder, by id. Raises `UsageError` if there is no such folder."""
    root = os.path.join(out, "trials")
    found = []
    for folder, names, files in os.walk(root):
        names.sort()
        if "trial.json" in files:
            with open(os.path.join(folder, "trial.json"), "rb") as file:
                found.append(Result.model_validate_json(file.read()))
    return tuple(found)


def read_summary(out: str) -> Summary:
    """The summary in a folder. Raises `UsageError` if there is none."""
    place = os.path.join(out, "summary.json")
    try:
        with open(place, "rb") as file:
            return Summary.model_validate_json(file.read())
    except OSError:
        raise UsageError(f"{place} is missing; make it with: referee bench run TASKS --out {out}") from None
    except ValueError as wrong:
        raise UsageError(f"{place} is no summary of this version: {str(wrong).splitlines()[0]}") from None


def _place(out: str, trial: Trial) -> str:
    return os.path.join(out, "trials", trial.task, trial.config, str(trial.repeat))


def _missing(experiment: Experiment, task: BenchTask) -> Iterator[Trial]:
    names = [c.name for c in configurations(experiment.configs, experiment.budget)]
    # Whoever comes first pays for what later trials of the task find known, so each configuration comes first in turn.
    turn = sum(task.id.encode()) % len(names)
    for repeat, name in product(range(1, experiment.repeats + 1), [*names[turn:], *names[:turn]]):
        trial = Trial(task=task.id, config=name, repeat=repeat)
        if not os.path.isfile(os.path.join(_place(experiment.out, trial), "trial.json")):
            yield trial


def _skipped(experiment: Experiment, task: str) -> str:
    """Why a task is left out; empty if it is not."""
    try:
        with open(os.path.join(experiment.out, _SKIPPED, task), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _same(experiment: Experiment) -> None:
    place = os.path.join(experiment.out, "asked.txt")
    asked = "".join(f"{k}: {v}\n" for k, v in experiment.asked.items())
    if not os.path.lexists(place):
        write_whole(place, asked.encode())
        return
    with open(place, encoding="utf-8") as file:
        before = file.read()
    if before != asked:
        old, new = next((a, b) for a, b in zip(before.split("\n"), asked.split("\n"), strict=False) if a != b)
        raise UsageError(f"{experiment.out} holds another experiment ({old}, now {new}); give --out a new folder")


def _played(experiment: Experiment, tasks: Sequence[BenchTask], tell: Tell) -> Iterator[str]:
    """The ids of tasks as all their trials are done; each worker takes a whole task."""
    if experiment.jobs == 1 or len(tasks) < 2:
        for task in tasks:
            yield play_task(experiment, task)
        return
    waiting, deaths = list(tasks), 0
    while waiting:
        try:
            for done in _pooled(experiment, waiting):
                waiting, deaths = [t for t in waiting if t.id != done], 0
                yield done
        except BrokenProcessPool:
            deaths += 1
            tell("a worker died; its trials go on where their journals end")
            if deaths == _MOST_DEATHS:
                raise WorldFault(f"{deaths} workers died and nothing was done; is there memory enough?") from None


def _pooled(experiment: Experiment, tasks: Sequence[BenchTask]) -> Iterator[str]:
    # A fresh interpreter for each: a fork would share the threads of nobody and the locks of everybody.
    with ProcessPoolExecutor(experiment.jobs, get_context("spawn"), _leave_signals_to_the_first) as pool:
        waiting: set[Future[str]] = {pool.submit(play_task, experiment, task) for task in tasks}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BaseException:
            # Whoever stops the experiment need not wait: a run that is cut off is resumed where its journal ends.
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in active_children():
                worker.terminate()
            raise


def _leave_signals_to_the_first() -> None:
    """Ctrl-C in a terminal reaches every process; the one that was started decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def play_task(experiment: Experiment, task: BenchTask) -> str:
    """Play every trial of a task that is missing; its id."""
    folder = os.path.join(os.path.realpath(experiment.out), "work", task.id)
    try:
        scene = found(task, experiment.repos)
    except UsageError as wrong:
        return _leave_out(experiment, task.id, str(wrong))
    truth_folder = os.path.join(folder, "truth")
    shutil.rmtree(truth_folder, ignore_errors=True)  # of a worker that was killed
    os.makedirs(truth_folder)
    with Ground(os.path.join(truth_folder, "repository"), scene.right) as truth:
        baseline, why = verified(truth, scene)
        if why:
            return _leave_out(experiment, task.id, why)
        table = Table(
            folder=folder, scene=scene, truth=truth, baseline=baseline, player=experiment.player,
            seed=experiment.seed, heard={},
        )  # fmt: skip
        named = {c.name: c for c in configurations(experiment.configs, experiment.budget)}
        for trial in list(_missing(experiment, task)):
            _keep(experiment, play(table, trial, named[trial.config]))
    shutil.rmtree(folder)
    with suppress(OSError):  # not empty: others are still played
        os.rmdir(os.path.dirname(folder))
    return task.id


def _leave_out(experiment: Experiment, task: str, why: str) -> str:
    os.makedirs(os.path.join(experiment.out, _SKIPPED), exist_ok=True)
    write_whole(os.path.join(experiment.out, _SKIPPED, task), why.encode())
    return task


def _keep(experiment: Experiment, played: Played) -> None:
    """Write the report and then the result: a trial with a result is done."""
    place = _place(experiment.out, played.result.trial)
    os.makedirs(place, exist_ok=True)
    if played.report is not None:
        write_whole(os.path.join(place, "report.json"), played.report.model_dump_json(indent=2).encode() + b"\n")
    write_whole(os.path.join(place, "trial.json"), played.result.model_dump_json(indent=2).encode() + b"\n")
