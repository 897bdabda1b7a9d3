"""The layers as data: every check with its command, reader, limit, and why it is on. Nothing is run."""

from __future__ import annotations

from collections.abc import Sequence

from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.planned import PlannedCheck, PlanReport
from referee.judge import affected, plan
from referee.judge.checks import Check
from referee.judge.checks.ignoring import described
from referee.judge.choose import checks_for, suites_of, without_skipped
from referee.judge.plan import TestRun
from referee.judge.project import Project
from referee.judge.settings import Settings
from referee.judge.suites.named import divided
from referee.judge.targets import kinds, target_commands
from referee.ports import Base


def outline(project: Project, settings: Settings, paths: Sequence[str], targets: Sequence[str] = ()) -> PlanReport:
    """What `fix` and `check` would run for these targets. Raises `UsageError` for a target that names nothing."""
    ids, commands = kinds(frozenset(paths), divided(project, targets)[1])
    everything, project = project, without_skipped(project, settings)
    checks = (*checks_for(project, settings, paths), *target_commands(project, settings, commands, ids))
    base = Base(tree="", path="", mount_at=project.root)
    checks = (*checks, *suites_of(project, settings))
    rows = [_row(check, base) for check in checks]
    rows += _tests(project, settings, ids) if "pytest" in project.uses else []
    others = {n for s in everything.others.suites for n in (s.name, s.kind)}
    others |= {n for li in everything.others.linters for n in (li.name, li.tool)}
    skipped = [n for n in settings.skip if n in others or n in everything.uses]
    rows += [_off(n, "skipped in the settings") for n in skipped]
    rows += [_off(n, why) for n, why in project.left_out.items()]
    rows += [_off(n, "configured, but not installed: this blocks") for n in project.missing()]
    names = {*everything.uses, *others, *everything.left_out, *(s.title for s in settings.checks)}
    idle = tuple(f"skip names {n!r}, which is no check here" for n in settings.skip if n not in names)
    return PlanReport(
        checks=tuple(sorted(rows, key=lambda r: (not r.on, r.layer))),
        flaky=settings.flaky,
        ignores=tuple(described(i) for i in settings.ignore),
        notes=(*((project.note,) if project.note else ()), *idle),
    )


def _row(check: Check, base: Base) -> PlannedCheck:
    command = check.command(base, Patch())
    argv = command.argv if command else ()
    return PlannedCheck(
        layer=check.layer, check=check.name, command=argv, reader=check.reader, cost=check.cost,
        seconds=check.seconds, not_run=check.not_run, why=check.why,
    )  # fmt: skip


def _tests(project: Project, settings: Settings, ids: tuple[str, ...]) -> list[PlannedCheck]:
    """pytest's three rows, with the arguments it is really given."""
    why = project.reasons.get("pytest", "")
    start = (project.interpreter.executable, "-m", "pytest")
    late = f"when the suite takes {affected.WORTH_SELECTING_MS // 1000} s or more"
    target, suite = settings.target_seconds, settings.suite_seconds
    layers = (
        (Layer.TARGET, "pytest", ids, target, "moderate", why),
        (Layer.AFFECTED, "pytest-affected", (), suite, "dear", late),
        (Layer.SUITE, "pytest-suite", (), suite, "dear", why),
    )
    return [
        PlannedCheck(
            layer=layer, check=name, reader="pytest (signed channel)", cost=cost, seconds=seconds, why=reason,
            command=(*start, *plan.arguments(project, TestRun(ids=wanted))),
        )
        for layer, name, wanted, seconds, cost, reason in layers
    ]  # fmt: skip


def _off(name: str, why: str) -> PlannedCheck:
    layer = Layer.SUITE if name == "pytest" else Layer.TYPES if name == "mypy" else Layer.FORMAT
    return PlannedCheck(layer=Layer.COMPILE if name == "syntax" else layer, check=name, on=False, why=why)
