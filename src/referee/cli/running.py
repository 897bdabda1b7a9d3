"""What every command that runs something does around it: signals, progress, the result, the exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from referee.cli.output import kept_patch, put_bytes, result, wants_patch
from referee.cli.progress import Display, console
from referee.cli.signals import cancellable
from referee.domain.report import Outcome


@contextmanager
def running(*, quiet: bool) -> Iterator[Display]:
    """While this is open, signals cancel and progress shows."""
    with cancellable(), Display(console(), quiet=quiet) as display:
        yield display


def finish(outcome: Outcome, display: Display, *, as_json: bool, whole: bool = False) -> None:
    """Show the outcome (as JSON with the diff, if `whole`) and leave with its exit code.

    With `--land patch:-` only a patch that passed is on stdout.
    """
    display.summary(outcome.report)
    if as_json or not wants_patch(outcome):
        result(outcome, as_json=as_json, whole=whole)
    elif outcome.solved:
        put_bytes(kept_patch(outcome.report.run_id))
    raise typer.Exit(outcome.report.exit)
