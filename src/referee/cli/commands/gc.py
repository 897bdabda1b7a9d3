"""`referee gc`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o


def gc(
    repo: o.Repo = ".",
    days: Annotated[float, typer.Option(metavar="DAYS", min=0, help="Keep what is younger.")] = 7.0,
    json: o.Json = False,
) -> None:
    """Drop snapshots older than a week and what only they needed; those runs cannot be rolled back any more.

    Example: referee gc --days 30
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import put
    from referee.cli.signals import cancellable

    with cancellable():
        dropped = api.gc(repo, days)
    if json:
        from json import dumps

        put(dumps({"dropped": dropped}) + "\n")
    else:
        put("".join(f"dropped {run_id}\n" for run_id in dropped) or "nothing to drop\n")
