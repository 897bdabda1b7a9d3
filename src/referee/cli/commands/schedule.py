"""`referee schedule`: tasks that are begun at a time."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.schedule import Planned

schedule = typer.Typer(
    help="Tasks that `referee worker` begins at a time.", no_args_is_help=True, rich_markup_mode=None
)


class Flow(StrEnum):
    """What a task is begun with."""

    AGENT = "agent"
    FIX = "fix"


@schedule.command("add")
def add(
    when: Annotated[str, typer.Argument(metavar="WHEN", help="A time (UTC), 'every 30m', or five cron fields (UTC).")],
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is to be done.")],
    repo: o.Repo = ".",
    flow: Annotated[Flow, typer.Option("--flow", help="Which command does it.")] = Flow.AGENT,
    target: Annotated[list[str] | None, typer.Option(metavar="ID", help="A test that fails; repeatable.")] = None,
    json: o.Json = False,
) -> None:
    """Plan a task: once, at intervals of at least five minutes, or as cron has it. Times are UTC.

    Example: referee schedule add "0 6 * * 1" "upgrade what has a security fix"
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put

    entry = api.plan_task(when, task, repo, flow=flow.value, targets=target or ())
    if json:
        document(entry)
    else:
        put(row(entry))


@schedule.command("list")
def list_(repo: o.Repo = ".", json: o.Json = False) -> None:
    """List what is planned, what is due next first; JSON lines with --json.

    Example: referee schedule list
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put

    for entry in api.schedule(repo):
        if json:
            document(entry)
        else:
            put(row(entry))


@schedule.command("remove")
def remove(
    entry_id: Annotated[str, typer.Argument(metavar="ID", help="As `referee schedule list` names it.")],
    repo: o.Repo = ".",
) -> None:
    """Drop a planned task.

    Example: referee schedule remove upgrade-what-has-a-3fa2
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import put

    put(f"removed {api.unplan(entry_id, repo).id}\n")


def row(entry: Planned) -> str:
    """An entry and how it last went, for people."""
    from datetime import UTC, datetime

    from referee.render.plain import line

    due = datetime.fromtimestamp(entry.due, UTC).strftime("%Y-%m-%d %H:%M UTC") if entry.due is not None else "over"
    row = f"{entry.id}  {due:<20}  {line(entry.when)}  {line(entry.task, 60)}\n"
    if entry.last is not None:
        row += f"    last: {line(entry.last.words, 200)}" + (f" (run {entry.last.run_id})" if entry.last.run_id else "")
        row += f"; {entry.missed} earlier times were missed\n" if entry.missed else "\n"
    return row
