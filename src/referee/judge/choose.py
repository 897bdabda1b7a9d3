"""Which checks a project gets: those it is set up for, and those its user names."""

from __future__ import annotations

from collections.abc import Sequence

from referee.domain.layer import Layer
from referee.domain.protection import Protection
from referee.judge.checks import Check, CommandCheck, FormatCheck, MypyCheck, RuffCheck, SyntaxCheck
from referee.judge.project import Project
from referee.judge.settings import Settings

_MOST_FILES = 2_000  # compiled on the unpatched tree


def checks_for(project: Project, settings: Settings, paths: Sequence[str]) -> tuple[Check, ...]:
    """All but the tests, which are the judge's own business; `paths` are those of the unpatched tree."""
    made: list[Check] = []
    seconds = settings.suite_seconds
    wanted = {name: tool for name, tool in project.tools.items() if name not in settings.skip}
    scope = tuple(sorted({p.partition("/")[0] for p in paths if p.endswith((".py", ".pyi"))}))
    for name, kind in (("ruff", RuffCheck), ("ruff-format", FormatCheck)):
        if name in wanted and scope:
            made.append(kind(project=project, tool=wanted[name], seconds=seconds, scope=scope))
    if "mypy" in wanted:
        made.append(MypyCheck(project=project, tool=wanted["mypy"], seconds=seconds))
    if "syntax" in project.uses and "syntax" not in settings.skip:
        guard = Protection()
        files = tuple(p for p in paths if p.endswith(".py") and not guard.guarded(p))
        made.append(SyntaxCheck(project=project, files=files[:_MOST_FILES], seconds=seconds))
    for spec in settings.checks:
        if spec.layer is not Layer.TARGET:
            name = spec.name or " ".join(spec.run)
            reach = settings.reach(name)
            own = CommandCheck(
                name=name, layer=spec.layer, project=project, run=spec.run, seconds=seconds, egress=reach
            )
            made.append(own)
    return tuple(made)
