"""`referee schedule` and `referee worker`: tasks that are begun at a time."""

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
LONGEST = 60.0  # seconds after which a worker looks again what is planned


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
        put(_row(entry))


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
            put(_row(entry))


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


def worker(
    repo: o.Repo = ".",
    loop: Annotated[
        bool, typer.Option("--loop/--once", help="Go on until stopped, or begin what is due now and leave.")
    ] = False,
    quiet: o.Quiet = False,
) -> None:
    """Begin the planned tasks that are due, one after the other. Missed times are told and not made up for.

    From cron: */5 * * * * referee worker --once --repo /path/to/repository

    Example: referee worker --loop
    """
    o.settings(repo, {})
    from referee import api
    from referee.adapters.clock import SystemClock
    from referee.cli.output import put
    from referee.cli.running import running

    with running(quiet=quiet) as display:
        while True:
            for entry in api.work(repo, display):
                put(_row(entry))
            if not loop:
                return
            SystemClock().sleep(min(LONGEST, max(1.0, api.next_due(repo) or LONGEST)))


def _row(entry: Planned) -> str:
    from datetime import UTC, datetime

    from referee.render.plain import line

    due = datetime.fromtimestamp(entry.due, UTC).strftime("%Y-%m-%d %H:%M UTC") if entry.due is not None else "over"
    row = f"{entry.id}  {due:<20}  {line(entry.when)}  {line(entry.task, 60)}\n"
    if entry.last is not None:
        row += f"    last: {line(entry.last.words, 200)}" + (f" (run {entry.last.run_id})" if entry.last.run_id else "")
        row += f"; {entry.missed} earlier times were missed\n" if entry.missed else "\n"
    return row
