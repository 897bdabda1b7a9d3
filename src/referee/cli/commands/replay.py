"""`referee replay`."""

from __future__ import annotations

import typer

from referee.cli import options as o


def replay(run: o.RunId, repo: o.Repo = ".", json: o.Json = False) -> None:
    """Decide everything again from the record of a run, doing nothing: exit 0 if all is the same, else 70.

    Example: referee replay 20250101-120000-ab12
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put
    from referee.render.plain import line

    report = api.replay(run, repo)
    if json:
        document(report)
    elif report.same:
        put(f"the same, in {report.decisions} decisions\n")
    else:
        put(f"not the same after {report.decisions} decisions: {line(report.first_difference or '', 500)}\n")
    raise typer.Exit(0 if report.same else 70)
