"""What is to be played, and what of it is still missing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product

from referee.api.bench.playing import Player
from referee.api.bench.record import place
from referee.domain.cost import Budget
from referee.domain.value import Value
from referee.evals.configuration import configurations
from referee.evals.task import BenchTask
from referee.evals.trial import Trial


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


def missing(experiment: Experiment, task: BenchTask) -> Iterator[Trial]:
    """The trials of a task that are still to be played, in the order in which to play them."""
    names = [c.name for c in configurations(experiment.configs, experiment.budget)]
    # Whoever comes first pays for what later trials of the task find known, so each configuration comes first in turn.
    turn = sum(task.id.encode()) % len(names)
    for repeat, name in product(range(1, experiment.repeats + 1), [*names[turn:], *names[:turn]]):
        trial = Trial(task=task.id, config=name, repeat=repeat)
        if not os.path.isfile(os.path.join(place(experiment.out, trial), "trial.json")):
            yield trial
