"""`referee journal verify`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o

journal = typer.Typer(help="The record that cannot be edited unnoticed.", no_args_is_help=True, rich_markup_mode=None)


@journal.callback()
def _root() -> None:
    pass


@journal.command("verify")
def verify(
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="One run.", show_default="all of them")] = None,
    repo: o.Repo = ".",
    json: o.Json = False,
) -> None:
    """Check the chain of digests: exit 0 if nothing was changed, moved or removed, else 1.

    Example: referee journal verify
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put

    report = api.verify(run, repo)
    if json:
        document(report)
    elif report.ok:
        put(f"{report.entries} entries, all as they were written\n")
    else:
        put(f"run {report.run_id}: entry {report.first_bad} is not as it was written\n")
    raise typer.Exit(0 if report.ok else 1)
