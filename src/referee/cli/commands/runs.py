"""`referee runs`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o


def runs(
    repo: o.Repo = ".",
    refused: Annotated[bool, typer.Option("--all", help="Also runs that were refused before they began.")] = False,
    json: o.Json = False,
) -> None:
    """List the runs of a repository, newest first.

    Example: referee runs --json
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put
    from referee.render.plain import line
    from referee.render.words import dollars

    for summary in api.runs(repo, refused=refused):
        if json:
            document(summary)
            continue
        unfinished = "refused" if summary.status == "done" else summary.status
        how = summary.stop_reason.value if summary.stop_reason else unfinished
        cost = f"{summary.steps} steps, {summary.wall_seconds:.1f} s, {dollars(summary.cost_usd)}"
        put(f"{summary.run_id}  {how:<16}  {cost:<24}  {line(summary.task, 60)}".rstrip() + "\n")
