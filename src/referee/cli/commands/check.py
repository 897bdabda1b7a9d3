"""`referee check`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.mapped import MapReport
    from referee.domain.planned import PlanReport

Plan = Annotated[bool, typer.Option("--plan", help="Run nothing: show each layer's checks and why each is on.")]
Map = Annotated[bool, typer.Option("--map", help="Only find out which test reaches which code, for later runs.")]
Changed = Annotated[
    bool, typer.Option("--changed", help="Linters look only at files that are not as in HEAD; tests are run whole.")
]
Sarif = Annotated[bool, typer.Option("--sarif", help="A SARIF 2.1.0 document on standard output instead of the text.")]
Junit = Annotated[bool, typer.Option("--junit", help="JUnit XML on standard output instead of the text.")]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Also write the result to FILE: *.sarif, *.xml (JUnit) or *.json; repeatable.",
        show_default=False,
    ),
]


def check(  # noqa: PLR0913 - one parameter per option is how typer reads them
    repo: o.Repo = ".",
    plan: Plan = False,
    map_: Map = False,
    changed: Changed = False,
    timeout: o.Timeout = None,
    python: o.Python = None,
    require_isolation: o.RequireIsolation = False,
    allow_degraded: o.AllowDegraded = False,
    json: o.Json = False,
    sarif: Sarif = False,
    junit: Junit = False,
    output: Output = None,
    quiet: o.Quiet = False,
) -> None:
    """Run the judge on the tree as it is, with no model: for CI and before a commit. Exit 0 if all passed, else 1.

    Example: referee check --json

    Example: referee check -o result.sarif -o junit.xml
    """
    flags = {"budget.timeout": timeout, "python": python} | o.isolation_flag(require_isolation, allow_degraded)
    config = o.settings(repo, flags)
    from referee import api
    from referee.cli import checked
    from referee.cli.output import document, put
    from referee.cli.running import running

    form = _form(json=json, sarif=sarif, junit=junit)
    _alone(
        {"--plan": plan, "--map": map_}, {"--sarif": sarif, "--junit": junit, "--output": output, "--changed": changed}
    )
    checked.writable(output or ())
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
        report = api.check(repo, config, display, changed=changed)
    checked.write(report, output or ())
    if form:
        put(checked.FORMS[form](report))
    else:
        checked.show(report)
    raise typer.Exit(0 if report.passed else 1)


def _form(**wanted: bool) -> str:
    """The one form that standard output is to have; empty for text. Raises `UsageError` if several are asked for."""
    named = [name for name, on in wanted.items() if on]
    if len(named) > 1:
        from referee.domain.errors import UsageError

        raise UsageError(f"--{named[0]} and --{named[1]} both want standard output; write one to a file with --output")
    return {"json": ".json", "sarif": ".sarif", "junit": ".xml"}[named[0]] if named else ""


def _alone(instead: Mapping[str, object], of_checks: Mapping[str, object]) -> None:
    """Raise `UsageError` if an option that runs no checks is given with another, or with one about their result."""
    from referee.domain.errors import UsageError

    chosen = [name for name, given in instead.items() if given]
    without = [name for name, given in of_checks.items() if given] if chosen else []
    if len(chosen) + len(without) > 1:
        first, second = [*chosen, *without][:2]
        raise UsageError(f"{first} runs no checks, so it does not go with {second}; leave one of them out")


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
