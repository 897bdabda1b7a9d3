"""What a preset aims at where no target is named, and when the work is refused."""

from __future__ import annotations

import shlex

from referee.domain.errors import Exhausted, UsageError
from referee.domain.layer import Layer
from referee.domain.preset import PLAIN_EDIT, SLOWEST, PresetName, made, refuse
from referee.domain.reason import StopReason
from referee.domain.task import Task
from referee.domain.verdict import CheckState
from referee.flows.plan import Ended
from referee.judge import Bench, Project, Settings, linted
from referee.judge.layout import modules_of
from referee.kernel.run import Run
from referee.ports import Base

_LAYERS = {PresetName.TYPES: Layer.TYPES, PresetName.LINT: Layer.FORMAT}
_MISSING = {
    PresetName.TYPES: "no type checker is set up here; add [tool.mypy] to pyproject.toml, and install mypy",
    PresetName.LINT: "no linter is set up here; add [tool.ruff] to pyproject.toml, and install ruff",
}


def preflight(task: Task) -> None:
    """Raise `UsageError` for what no run should be asked to do."""
    refuse(task.text, task.targets)


def aims(run: Run, preset: PresetName, task: Task, on: tuple[Project, Base, Settings]) -> tuple[str, ...]:
    """The targets of a run: those named, else what the preset mends; none means the failing tests.

    Raises `UsageError` where the preset has nothing to go by, `Exhausted` where there is nothing to mend.
    """
    if task.targets:
        return task.targets
    project, base, settings = on
    if preset is PresetName.SCAFFOLD:
        return tuple(_importable(path, project) for path in made(task.text, run.paths(base.tree)))
    layer = _LAYERS.get(preset)
    if layer is None:
        return ()
    results = linted(run, project, base, settings, layer)
    if not results:
        raise UsageError(_MISSING[preset])
    failing = tuple(r.check for r in results if r.state is CheckState.FAIL)
    if not failing and all(r.clear for r in results):
        names = ", ".join(r.check for r in results)
        raise Exhausted(StopReason.NOT_REPRODUCED, f"{names} finds nothing on the tree as it is: nothing to mend")
    return failing or tuple(r.check for r in results if not r.clear)


def quick(bench: Bench) -> Bench:
    """The bench, if its target is quick enough for a loop. Raises `Exhausted` with the reason if it is not."""
    seconds = bench.target_ms / 1000
    if seconds > SLOWEST:
        raise Exhausted(
            StopReason.JUDGE_UNRELIABLE,
            f"one run of the target takes {seconds:.0f} s; a loop needs a check of at most {SLOWEST:.0f} s, so name a "
            "smaller --target",
        )
    return bench


def explained(spent: Exhausted, task: Task) -> Exhausted:
    """What to do where a task has words but no check fails: nothing would say when it is done."""
    if spent.reason is not StopReason.NOT_REPRODUCED or task.targets or not task.text:
        return spent
    return Exhausted(
        spent.reason,
        f"{spent}. The task has no check that fails, so nothing would say when it is done: write a test of it first "
        "(or let one be written: --preset tests), or edit the file yourself, which is cheaper for fewer than "
        f"{PLAIN_EDIT} lines",
    )


def cheaper_by_hand(ended: Ended, diff: bytes) -> str:
    """A remark on a small change that no test asked for; empty otherwise."""
    rows = [r for r in diff.split(b"\n") if r[:1] in (b"+", b"-") and r[:3] not in (b"+++", b"---")]
    changed = max(sum(r[:1] == sign for r in rows) for sign in (b"+", b"-"))
    if not ended.solved or ended.targets or not 0 < changed < PLAIN_EDIT:
        return ""
    lines = "1 line" if changed == 1 else f"{changed} lines"
    return f"{lines} changed and no test asked for it: a plain edit would have been cheaper than a run"


def _importable(path: str, project: Project) -> str:
    """A command that fails until a module is there and can be imported."""
    names = modules_of(path, project.layout)
    if not names:
        return f"test -s {shlex.quote(path)}"
    name = min(names, key=len)
    root = (
        path[: -len(name.replace(".", "/") + ".py")].rstrip("/")
        if path.endswith(name.replace(".", "/") + ".py")
        else ""
    )
    where = f"import sys; sys.path.insert(0, {root or '.'!r}); import {name}"
    return f"python -B -c {shlex.quote(where)}"
