"""`referee rollback`."""

from __future__ import annotations

import typer

from referee.cli import options as o


def rollback(run: o.RunId, repo: o.Repo = ".", json: o.Json = False) -> None:
    """Undo what a run wrote, byte for byte, and only where nobody has changed it since.

    Example: referee rollback 20250101-120000-ab12
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put
    from referee.cli.signals import cancellable
    from referee.render.plain import line

    with cancellable():
        done = api.rollback(run, repo)
    if json:
        document(done)
    else:
        rows = [line(words) for words in done.said]
        rows += [f"restored   {line(p)}" for p in done.restored]
        rows += [f"unchanged  {line(p)}" for p in done.unchanged]
        rows += [f"kept       {line(p)} (changed since by somebody else)" for p in done.kept]
        rows += [f"failed     {line(p)}: {line(why)}" for p, why in done.failed.items()]
        put("\n".join(rows or ["this run wrote nothing"]) + "\n")
    raise typer.Exit(1 if done.kept or done.failed else 0)
