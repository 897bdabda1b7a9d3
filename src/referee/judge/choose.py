"""Which checks a project gets: those it is set up for, and those its user names."""

from __future__ import annotations

from collections.abc import Sequence

from referee.domain.layer import Layer
from referee.domain.protection import Protection
from referee.judge.checks import (
    Check,
    CommandCheck,
    FormatCheck,
    MypyCheck,
    ReportedCheck,
    RuffCheck,
    SuiteCheck,
    SyntaxCheck,
)
from referee.judge.project import Project
from referee.judge.settings import SUITE_KEY, TARGET_KEY, CheckSpec, Settings
from referee.judge.suites.linters import Linter

_MOST_FILES = 2_000  # compiled on the unpatched tree


def checks_for(project: Project, settings: Settings, paths: Sequence[str]) -> tuple[Check, ...]:
    """All but the tests, which are the judge's own business; `paths` are those of the unpatched tree."""
    project = without_skipped(project, settings)
    made: list[Check] = []
    why, seconds = project.reasons, settings.suite_seconds
    wanted = {name: tool for name, tool in project.tools.items() if name in project.uses}
    scope = tuple(sorted({p.partition("/")[0] for p in paths if p.endswith((".py", ".pyi"))}))
    for name, kind in (("ruff", RuffCheck), ("ruff-format", FormatCheck)):
        if name in wanted and scope:
            tool = wanted[name]
            made.append(kind(project=project, tool=tool, seconds=seconds, scope=scope, why=why.get(name, "")))
    if "mypy" in wanted:
        made.append(MypyCheck(project=project, tool=wanted["mypy"], seconds=seconds, why=why.get("mypy", "")))
    if "syntax" in project.uses:
        guard = Protection()
        files = tuple(p for p in paths if p.endswith(".py") and not guard.guarded(p))
        made.append(SyntaxCheck(project=project, files=files[:_MOST_FILES], seconds=seconds, why=why["syntax"]))
    made += [_reported(project, linter, seconds) for linter in project.others.linters]
    specs = [s for s in settings.checks if s.layer is not Layer.TARGET and s.title not in settings.skip]
    return (*made, *(configured(project, settings, spec) for spec in specs))


def _reported(project: Project, linter: Linter, seconds: float) -> Check:
    return ReportedCheck(
        name=linter.name, layer=linter.layer, project=project, reader=linter.reader, linter=linter, seconds=seconds,
        why=linter.why,
    )  # fmt: skip


def limit_of(check: Check) -> str:
    """Which setting gives a check more time."""
    if check.why == "configured":
        return f"seconds of the check {check.name!r} in referee.toml"
    return TARGET_KEY if check.layer is Layer.TARGET else SUITE_KEY


def without_skipped(project: Project, settings: Settings) -> Project:
    """The project without what its user leaves out by name."""
    skip, others = settings.skip, project.others
    update = {
        "uses": tuple(u for u in project.uses if u not in skip),
        "others": others.model_copy(
            update={
                "suites": tuple(s for s in others.suites if s.name not in skip and s.kind not in skip),
                "linters": tuple(li for li in others.linters if li.name not in skip and li.tool not in skip),
            }
        ),
    }
    return project.model_copy(update=update)


def suites_of(project: Project, settings: Settings) -> tuple[SuiteCheck, ...]:
    """The suites of other languages, whole, with nothing known about them yet."""
    return tuple(
        SuiteCheck(
            name=s.name, reader=f"{s.kind} (signed channel)", layer=Layer.SUITE,
            project=project, suite=s, seconds=settings.suite_seconds, why=s.why,
            flaky=settings.flaky,
        )
        for s in project.others.suites
    )  # fmt: skip


def configured(project: Project, settings: Settings, spec: CheckSpec, targets: tuple[str, ...] = ()) -> Check:
    """The user's own check, with its layer's limit if it has none of its own."""
    seconds = settings.target_seconds if spec.layer is Layer.TARGET else settings.suite_seconds
    return CommandCheck(
        name=spec.title, layer=spec.layer, project=project, run=spec.run, targets=targets, reader=spec.reader,
        seconds=spec.seconds or seconds, not_run=spec.not_run, why="configured",
        egress=settings.reach(spec.title),
    )  # fmt: skip
