"""`referee doctor`."""

from __future__ import annotations

import typer

from referee.cli import options as o

_NO_SANDBOX = 69


def doctor(json: o.Json = False) -> None:
    """Probe what this machine can isolate, and say what would make it better. Exit 0 if something isolates fully.

    Example: referee doctor
    """
    from referee import api
    from referee.cli.isolation import show
    from referee.cli.output import document
    from referee.cli.signals import cancellable

    with cancellable():
        found = api.doctor()
    if json:
        document(found)
    else:
        show(found)
    raise typer.Exit(0 if found.chosen else _NO_SANDBOX)
