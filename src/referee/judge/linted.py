"""What linters and formatters say of a tree, and nothing else: no test runs."""

from __future__ import annotations

from referee.domain.errors import UsageError
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult
from referee.judge.carry import execute
from referee.judge.checks import without_ignored
from referee.judge.choose import checks_for, without_skipped
from referee.judge.project import Project
from referee.judge.settings import Settings
from referee.kernel.run import Run
from referee.ports import Base

_DEFAULT = ("ruff", "ruff-format")


def with_linter(run: Run, project: Project, settings: Settings) -> Project:
    """The project, with ruff as it is without configuration where nothing else is set up. Raises `UsageError`."""
    project = without_skipped(project, settings)
    for name, why in project.left_out.items():
        run.note(f"{name} is left out: {why}")
    configured = any(s.layer is Layer.FORMAT for s in settings.checks)
    if configured or "ruff" in project.uses or any(li.layer is Layer.FORMAT for li in project.others.linters):
        return project
    for name in _DEFAULT:
        if name not in settings.skip and name not in project.left_out:
            project = project.with_tool(name, "nothing else is set up")
    if "ruff" not in project.tools:
        python = project.interpreter.executable
        raise UsageError(
            f"no linter is set up here; add [tool.ruff] to pyproject.toml and {python} -m pip install ruff"
        )
    run.note("no linter is set up here: ruff and its formatter are used as they come, without configuration")
    return project


def linted(
    run: Run, project: Project, base: Base, settings: Settings, layer: Layer = Layer.FORMAT
) -> tuple[CheckResult, ...]:
    """What each linter and formatter, or each check of another layer, says of the whole tree."""
    results = []
    for check in checks_for(project, settings, run.paths(base.tree)):
        command = check.command(base, Patch()) if check.layer is layer else None
        if command is not None:
            run.progress("check", {"check": check.name, "layer": check.layer.value})
            results.append(without_ignored(check.read(execute(run, check.name, command)), settings.ignore))
    return tuple(results)
