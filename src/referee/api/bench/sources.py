"""From a task's facts to its files: a clone or two source archives, as the user has them."""

from __future__ import annotations

import os

from referee.adapters.archives import release
from referee.adapters.git.commits import Commits
from referee.domain.errors import UsageError
from referee.evals.scene import Scene, scene
from referee.evals.task import BenchTask


def found(task: BenchTask, repos: str) -> Scene:
    """The scene of a task from what is in `repos`. Raises `UsageError` that says how to get what is missing."""
    if task.archives:
        return scene(task, release(repos, task.pkg, task.fixed), release(repos, task.pkg, task.old))
    name = task.key or task.repo.rpartition("/")[2]
    clone = next((p for p in (os.path.join(repos, name), os.path.join(repos, f"{name}.git")) if os.path.isdir(p)), "")
    if not clone:
        raise UsageError(f"task {task.id} needs a clone of {task.repo or name} at {os.path.join(repos, name)}")
    commits = Commits(clone)
    return scene(task, commits.tree(task.fix), commits.tree(task.parent))
