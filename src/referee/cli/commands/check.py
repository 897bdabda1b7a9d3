"""`referee check`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.mapped import MapReport
    from referee.domain.planned import PlanReport
    from referee.domain.report import CheckReport

Plan = Annotated[bool, typer.Option("--plan", help="Run nothing: show each layer's checks and why each is on.")]
Map = Annotated[bool, typer.Option("--map", help="Only find out which test reaches which code, for later runs.")]


def check(  # noqa: PLR0913 - one parameter per option is how typer reads them
    repo: o.Repo = ".",
    plan: Plan = False,
    map_: Map = False,
    timeout: o.Timeout = None,
    python: o.Python = None,
    require_isolation: o.RequireIsolation = False,
    allow_degraded: o.AllowDegraded = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Run the judge on the tree as it is, with no model: for CI and before a commit. Exit 0 if all passed, else 1.

    Example: referee check --json
    """
    flags = {"budget.timeout": timeout, "python": python} | o.isolation_flag(require_isolation, allow_degraded)
    config = o.settings(repo, flags)
    from referee import api
    from referee.cli.output import document, put
    from referee.cli.running import running

    if plan:
        planned = api.plan(repo, config)
        document(planned) if json else put(_planned(planned))
        raise typer.Exit(0)
    if map_:
        with running(quiet=quiet) as display:
            made = api.map_tests(repo, config, display)
        document(made) if json else put(_mapped(made))
        raise typer.Exit(0)
    with running(quiet=quiet) as display:
        report = api.check(repo, config, display)
    if json:
        document(report)
    else:
        put(_text(report))
    raise typer.Exit(0 if report.passed else 1)


def _text(report: CheckReport) -> str:
    from referee.render.plain import line, plain

    rows = []
    for state in report.layers:
        note = f"  {line(state.note, 100)}" if state.note else ""
        rows.append(
            f"{state.layer.value}  {state.state.value:<7}  {line(state.check):<20} {state.duration_ms:>7} ms{note}"
        )
    if not report.passed:
        rows += ["", plain(report.feedback).rstrip()]
    if report.isolation:
        rows.append(f"sandbox  {report.isolation.backend}, {report.isolation.level}")
    rows.append("passed" if report.passed else "failed")
    return "\n".join(rows) + "\n"


def _mapped(report: MapReport) -> str:
    done = (
        f"{report.recorded} of them run now, in {report.duration_ms / 1000:.1f} s" if report.recorded else "all known"
    )
    return (
        f"{report.tests} tests ({done}) reach {report.functions} functions in {report.files} files; "
        f"{report.always} are chosen for any change\n"
    )


def _planned(report: PlanReport) -> str:
    from referee.render.plain import line

    rows = []
    for each in report.checks:
        limit = f"{each.seconds:g} s" if each.on else "off"
        missing = "; may be missing" if each.not_run == "allow" else ""
        rows.append(
            f"{each.layer.value}  {line(each.check):<16} {limit:>6}  {each.cost:<8}  "
            f"{line(each.reader):<23}  {line(each.why, 200)}{missing}".rstrip()
        )
        if each.command:
            rows.append(f"    {line(shlex.join(each.command), 200)}")
    rows += [f"flaky: {line(t, 200)}" for t in report.flaky]
    rows += [f"ignored: {line(i, 200)}" for i in report.ignores]
    rows += [f"note: {line(n, 300)}" for n in report.notes]
    return "\n".join(rows) + "\n"
