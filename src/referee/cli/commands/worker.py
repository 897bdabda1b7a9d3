"""`referee worker`: what begins planned tasks, or drives queued runs."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o

LONGEST = 60.0  # seconds after which a worker looks again what is planned


def worker(
    repo: o.Repo = ".",
    loop: Annotated[
        bool | None,
        typer.Option(
            "--loop/--once",
            help="Go on until stopped, or leave when nothing is to do.",
            show_default="once; with --slots, loop",
        ),
    ] = None,
    slots: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=64, help="Drive queued runs, N at a time; all workers have as many."),
    ] = None,
    name: Annotated[
        str, typer.Option("--id", metavar="NAME", help="What this worker is called.", show_default="the host's name")
    ] = "",
    quiet: o.Quiet = False,
) -> None:
    """Begin the planned tasks that are due, one after the other. Missed times are told and not made up for.

    With --slots it drives runs that `referee fix --engine dbos` has queued in REFEREE_DATABASE, of any repository.

    From cron: */5 * * * * referee worker --once --repo /path/to/repository

    Example: referee worker --loop
    """
    if slots is not None:
        _drive(slots, name, quiet=quiet, until_idle=loop is False)
        return
    if name:
        from referee.domain.errors import UsageError

        raise UsageError("--id names a worker of the queue; give it --slots, for example --slots 4")
    o.settings(repo, {})
    from referee import api
    from referee.adapters.clock import SystemClock
    from referee.cli.commands.schedule import row
    from referee.cli.output import put
    from referee.cli.running import running

    with running(quiet=quiet) as display:
        while True:
            for entry in api.work(repo, display):
                put(row(entry))
            if not loop:
                return
            SystemClock().sleep(min(LONGEST, max(1.0, api.next_due(repo) or LONGEST)))


def _drive(slots: int, name: str, *, quiet: bool, until_idle: bool) -> None:
    import socket

    from referee.api.working import Worker
    from referee.cli.driving import do
    from referee.cli.ending import say
    from referee.cli.signals import cancellable

    with cancellable():
        worker = Worker(name or socket.gethostname(), slots, do, (lambda _: None) if quiet else say)
        worker.work(until_idle=until_idle)
