"""One task: its right tree is built and checked, then every trial of it that is missing is played."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress

from referee.api.bench.experiment import Experiment, missing
from referee.api.bench.ground import Ground
from referee.api.bench.playing import Table, learnt, play, verified
from referee.api.bench.record import SKIPPED, keep
from referee.api.bench.sources import found
from referee.api.recorder import write_whole
from referee.domain.errors import UsageError
from referee.evals.configuration import configurations
from referee.evals.task import BenchTask
from referee.evals.trial import Result

Tell = Callable[[str], None]


def play_task(experiment: Experiment, task: BenchTask, tell: Tell | None = None) -> str:
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
        for trial in list(missing(experiment, task)):
            played = play(table, trial, named[trial.config])
            keep(experiment.out, played)
            if tell is not None:
                tell(_ended(played.result))
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


def _ended(result: Result) -> str:
    word = "success" if result.success else "no success"
    return f"{result.trial.id}: {word}, {result.stop_reason}, {result.wall_seconds:.0f} s"
