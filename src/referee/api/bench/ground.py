"""Files in a repository of our own, and what its tests say in the sandbox with a patch on top."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import TracebackType

from referee.actions.execute import Execute
from referee.actions.tree import PrepareBase, TakeSnapshot
from referee.adapters.git.fresh import first_commit
from referee.api.tools import WEEK, unrecorded
from referee.config import Config, load
from referee.domain.cost import Budget
from referee.domain.errors import UsageError
from referee.domain.patch import FileContent, Patch
from referee.domain.value import Value
from referee.judge import equalities, plan, stream
from referee.judge.plan import TestRun
from referee.wiring import Desk

# A fixed author and date: equal files make an equal commit, and facts about one tree hold for the next.
_AUTHOR = "referee bench <bench@localhost> 1735689600 +0000"


class Heard(Value):
    """What a run of tests said: each test's outcome, and the seconds it took. `broken` says why it is incomplete."""

    outcomes: Mapping[str, str] = {}
    seconds: float = 0.0
    broken: str = ""

    def passed(self, tests: Sequence[str]) -> bool:
        """Whether every one of `tests` ran and passed."""
        return all(self.outcomes.get(t) == "passed" for t in tests)


def furnish(folder: str, files: Mapping[str, FileContent]) -> None:
    """Make a repository of `files` in `folder`, which is there and empty or not there."""
    for path, content in files.items():
        place = os.path.join(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content.data)
        os.chmod(place, 0o755 if content.executable else 0o644)
    first_commit(folder, sorted(files), _AUTHOR, "The files of a task")


class Ground:
    """A tree whose tests can be run. Nothing in its folder changes; what tests write is gone with them."""

    def __init__(self, folder: str, files: Mapping[str, FileContent], config: Config | None = None) -> None:
        furnish(folder, files)
        self._desk = Desk(folder, config or load(folder))
        try:
            self._run = unrecorded(self._desk, Budget(timeout=WEEK), None)
            tree = self._run.perform(TakeSnapshot(run_id="check", settled=False)).tree
            self._base = self._run.perform(PrepareBase(tree=tree, protection=self._desk.config.protection))
            self._project = self._desk.project(tree)
            if "pytest" not in self._project.interpreter.distributions:
                raise UsageError(self._project.note or "the project's Python has no pytest")
        except BaseException:
            self._desk.close()
            raise

    @property
    def cache(self) -> str:
        """Where what was found out about this machine is kept."""
        return os.path.join(self._desk.state, "cache")

    def tests(self, patch: Patch, ids: Sequence[str] = ()) -> Heard:
        """Run `ids` (none: the whole suite) on the tree with `patch`."""
        settings = self._desk.settings()
        # pytest fails over a file that is not there, and a patch may take one away.
        gone = {c.path for c in patch.changes if c.after is None}
        what = TestRun(
            ids=tuple(i for i in ids if i.partition("::")[0] not in gone),
            # Comparisons that are the same in both trees are nobody's trick.
            honest=equalities.unchanged(patch, lambda path: self._run.read(self._base.tree, path)),
            test_seconds=settings.test_seconds,
        )
        command = plan.command(self._project, self._base, patch, what, settings.suite_seconds)
        execution = self._run.perform(Execute(command=command))
        report = stream.read(execution.channel, execution.key)
        broken = f"killed ({execution.killed_by})" if execution.killed_by else report.broken or ""
        return Heard(outcomes=report.outcomes, seconds=execution.duration_ms / 1000, broken=broken)

    def __enter__(self) -> Ground:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._desk.close()
