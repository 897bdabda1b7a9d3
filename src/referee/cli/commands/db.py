"""`referee db`."""

from __future__ import annotations

import typer

from referee.cli import options as o

db = typer.Typer(
    help="The journal in PostgreSQL, for several workers: REFEREE_DATABASE names it.", no_args_is_help=True,
    rich_markup_mode=None,
)  # fmt: skip


@db.command("migrate")
def migrate(json: o.Json = False) -> None:
    """Make the tables in the database that REFEREE_DATABASE names, or bring them up to date.

    Example: REFEREE_DATABASE=postgresql://me@db.example/referee referee db migrate
    """
    from referee import api
    from referee.cli.output import document, put

    done = api.migrate()
    if json:
        document(done)
    else:
        put(f"version {done.now}" + (f", before {done.before}\n" if done.before != done.now else ", as before\n"))


@db.command("copy")
def copy(repo: o.Repo = ".", json: o.Json = False) -> None:
    """Copy a repository's journal from its own SQLite file into the database; the file stays as it is.

    What is in the database already is left alone, so it can be repeated. Both journals are verified.

    Example: referee db copy --repo ~/src/shop
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put

    done = api.copy_journal(repo)
    if json:
        document(done)
    else:
        put(f"{len(done.copied)} runs copied, {len(done.there)} were there already\n")
