"""`referee doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.report import AttackReport

_NO_SANDBOX = 69
Attack = Annotated[bool, typer.Option("--attack", help="Try every known attack on the sandbox; exit 1 if one works.")]


def doctor(json: o.Json = False, attack: Attack = False) -> None:
    """Probe what this machine can isolate, and say what would make it better. Exit 0 if something isolates fully.

    Example: referee doctor --attack
    """
    if attack:
        raise typer.Exit(0 if _attack(json).held else 1)
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


def _attack(json: bool) -> AttackReport:
    """One line per attack as it ends, and the score; or one document."""
    from referee import api
    from referee.cli.output import document, put
    from referee.cli.signals import cancellable

    def tell(name: str, outcome: str, said: str) -> None:
        put(f"{outcome:<9}  {name}{': ' + said if said else ''}\n")

    with cancellable():
        found = api.attack(None if json else tell)
    if json:
        document(found)
    else:
        tried = found.count("stopped") + found.count("escaped")
        put(f"{found.backend}: {found.count('stopped')} of {tried} attacks stopped, {found.count('escaped')} escaped\n")
    return found
