"""What every command that runs something does around it: signals, progress, the result, the exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from referee.cli.output import result
from referee.cli.progress import Display, console
from referee.cli.signals import cancellable
from referee.domain.report import Outcome


@contextmanager
def running(*, quiet: bool) -> Iterator[Display]:
    """While this is open, signals cancel and progress shows."""
    with cancellable(), Display(console(), quiet=quiet) as display:
        yield display


def finish(outcome: Outcome, display: Display, *, as_json: bool) -> None:
    """Show the outcome and leave with its exit code."""
    display.summary(outcome.report)
    result(outcome, as_json=as_json)
    raise typer.Exit(outcome.report.exit)
