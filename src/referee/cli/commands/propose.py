"""`referee propose`: what reaches other systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.outside import Request

propose = typer.Typer(
    help="Propose something to be done to another system; it is done once a person has signed it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@propose.command("http")
def http(  # noqa: PLR0913 - one parameter per option is how typer reads them
    method: Annotated[str, typer.Argument(metavar="METHOD", help="GET, HEAD, POST, PUT, PATCH or DELETE.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="Where to.")],
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME:VALUE", help="Repeatable; a secret as NAME:env:VARIABLE.", show_default="none"),
    ] = None,
    body: Annotated[str, typer.Option(metavar="TEXT|@FILE", help="What is sent.", show_default="nothing")] = "",
    undo: Annotated[
        str, typer.Option(metavar="'METHOD URL'", help="The request that takes it back.", show_default="none")
    ] = "",
    repo: o.Repo = ".",
    json: o.Json = False,
) -> None:
    """One request with an Idempotency-Key, sent once.

    Example: referee propose http POST https://api.example.org/orders --body @order.json
    """
    from referee.domain.errors import UsageError

    headers = {}
    for given in header or ():
        name, colon, value = given.partition(":")
        if not colon:
            raise UsageError(f"--header {given!r} has no colon; write it as NAME:VALUE")
        headers[name.strip()] = value.strip()
    arguments: dict[str, Any] = {"method": method.upper(), "url": url, "headers": headers, "body": _text(body)}
    back = None
    if undo:
        verb, _, place = undo.partition(" ")
        back = ("http", {"method": verb.upper(), "url": place.strip(), "headers": headers})
    _proposed(("http", arguments), back, repo, as_json=json)


@propose.command("sql")
def sql(
    database: Annotated[
        str, typer.Argument(metavar="DATABASE", help="sqlite:/FILE, postgresql://…, or env:VARIABLE that holds one.")
    ],
    up: Annotated[str, typer.Argument(metavar="UP.sql", help="The file with the migration.")],
    down: Annotated[str, typer.Option(metavar="FILE", help="The file with what takes it back.")],
    repo: o.Repo = ".",
    json: o.Json = False,
) -> None:
    """A migration, in one transaction with the record that it was applied.

    Example: referee propose sql env:SHOP_DATABASE add_discount.sql --down drop_discount.sql
    """
    import os

    there = {"database": _absolute(database), "name": os.path.basename(up), "up": _text(f"@{up}")}
    back = {**there, "up": _text(f"@{down}"), "down": there["up"], "name": os.path.basename(down)}
    _proposed(("sql", {**there, "down": back["up"]}), ("sql", back), repo, as_json=json)


@propose.command("mail")
def mail(  # noqa: PLR0913 - one parameter per option is how typer reads them
    server: Annotated[str, typer.Argument(metavar="SERVER[:PORT]", help="The mail server; port 587.")],
    to: Annotated[list[str], typer.Option(metavar="ADDRESS", help="Who gets it; repeatable.")],
    sender: Annotated[str, typer.Option("--from", metavar="ADDRESS", help="Who it is from.")],
    subject: Annotated[str, typer.Option(metavar="TEXT", help="One line.")],
    body: Annotated[str, typer.Option(metavar="TEXT|@FILE", help="The message.")],
    user: Annotated[str, typer.Option(metavar="NAME", help="The account, or env:VARIABLE.", show_default="none")] = "",
    password: Annotated[
        str, typer.Option(metavar="env:VARIABLE", help="The variable with its password.", show_default="none")
    ] = "",
    repo: o.Repo = ".",
    json: o.Json = False,
) -> None:
    """One message, handed to a mail server once.

    Example: referee propose mail mail.example.org --from a@example.org --to b@example.org --subject Hi --body @text
    """
    host, _, port = server.partition(":")
    arguments: dict[str, Any] = {"server": host, "sender": sender, "to": tuple(to), "subject": subject}
    arguments |= {"body": _text(body), "user": user, "password": password}
    if port:
        arguments["port"] = int(port) if port.isdigit() else port
    _proposed(("mail", arguments), None, repo, as_json=json)


@propose.command("undo")
def undo(run: o.RunId, repo: o.Repo = ".", json: o.Json = False) -> None:
    """What takes back what a run did outside: a proposal like any other.

    Example: referee propose undo 20250101-120000-ab12
    """
    o.settings(repo, {})
    from referee import api

    _asked(api.undo_of(run, repo), None, repo, as_json=json)


def _proposed(
    what: tuple[str, dict[str, Any]], back: tuple[str, dict[str, Any]] | None, repo: str, *, as_json: bool
) -> None:
    from referee.domain.outside import Request

    undo = Request(tool=back[0], arguments=back[1]) if back else None
    _asked(Request(tool=what[0], arguments=what[1]), undo, repo, as_json=as_json)


def _asked(request: Request, undo: Request | None, repo: str, *, as_json: bool) -> None:
    config = o.settings(repo, {})
    from referee import api
    from referee.cli.running import finish, running

    with running(quiet=False) as display:
        outcome = api.propose(request, undo, repo, config, display)
    finish(outcome, display, as_json=as_json)


def _text(given: str) -> str:
    """The text itself, or what the file holds that it names as @FILE."""
    if not given.startswith("@"):
        return given
    from referee.config import text_of

    return text_of(given[1:])


def _absolute(database: str) -> str:
    import os

    if not database.startswith("sqlite:"):
        return database
    return f"sqlite:{os.path.abspath(database.removeprefix('sqlite:'))}"
