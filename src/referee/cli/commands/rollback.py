"""`referee rollback`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.ports import Restoration


def rollback(
    run: o.RunId,
    repo: o.Repo = ".",
    merge: Annotated[
        bool, typer.Option("--merge", help="Also in files that were changed since in other lines; those changes stay.")
    ] = False,
    wait: o.Wait = False,
    json: o.Json = False,
) -> None:
    """Undo what a run wrote, byte for byte, and only where nobody has changed it since.

    A file that was changed since stays as it is: both sides are shown, with what to type. The exit code is then 1.

    Example: referee rollback 20250101-120000-ab12
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.ending import say
    from referee.cli.output import document, put
    from referee.cli.signals import cancellable

    with cancellable():
        done = api.rollback(run, repo, merge=merge, wait=say if wait else None)
    if json:
        document(done)
    else:
        put("\n".join(_rows(done) or ["this run wrote nothing"]) + "\n" + _both_sides(run, done))
    raise typer.Exit(1 if done.kept or done.failed else 0)


def _rows(done: Restoration) -> list[str]:
    from referee.render.plain import line

    rows = [line(words) for words in done.said]
    rows += [f"restored   {line(p)}" for p in done.restored]
    rows += [f"merged     {line(p)} (the run's part is undone, what was changed since stays)" for p in done.merged]
    rows += [f"unchanged  {line(p)}" for p in done.unchanged]
    rows += [f"kept       {line(p)} (changed since by somebody else)" for p in done.kept]
    rows += [f"failed     {line(p)}: {line(why)}" for p, why in done.failed.items()]
    return rows


def _both_sides(run: str, done: Restoration) -> str:
    """Each clash, and the command that tries to undo the run's part of it."""
    from shlex import quote

    from referee.cli.output import shown
    from referee.render.plain import line

    text = ""
    for clash in done.clashes:
        text += f"\n{line(clash.path)} was changed since the run:\n\n{shown(clash.since)}"
        text += f"\nPutting it back would have changed:\n\n{shown(clash.undo)}"
        command = f"git apply --reject --include={quote(clash.path)} {quote(done.patch)}"
        if clash.merges:
            text += (
                f"\nThe two do not touch. To undo the run's part and keep yours:\n\n  referee rollback {run} --merge\n"
            )
        else:
            text += f"\nTo undo of it what still fits (the rest goes to a .rej file):\n\n  {line(command)}\n"
    return text
