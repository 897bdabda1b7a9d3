"""`referee check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.report import CheckReport


def check(  # noqa: PLR0913 - one parameter per option is how typer reads them
    repo: o.Repo = ".",
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
    rows.append("passed" if report.passed else "failed")
    return "\n".join(rows) + "\n"
