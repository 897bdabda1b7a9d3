"""`referee sign`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o
from referee.cli.commands.answer import QuestionId


def sign(
    question: QuestionId,
    repo: o.Repo = ".",
    ssh_key: Annotated[
        str, typer.Option(metavar="FILE", help="Sign with this SSH key.", show_default="a key of this machine")
    ] = "",
    digest: Annotated[
        str, typer.Option(metavar="HEX", help="Only if the digest begins like this.", show_default="any")
    ] = "",
    json: o.Json = False,
) -> None:
    """Sign a yes: to exactly what `referee questions ID` shows, once, and until it expires.

    On a terminal, what is signed is shown and you are asked whether to. Exit 2 if it is expired, used or changed.

    Example: referee sign q-0123456789 --ssh-key ~/.ssh/id_ed25519
    """
    o.settings(repo, {})
    from sys import stderr, stdin

    from referee import api
    from referee.cli.commands.answer import given
    from referee.cli.commands.questions import in_full

    if stdin.isatty() and stderr.isatty():
        asked = api.question(question, repo)
        typer.echo(in_full(asked), err=True)
        digest = digest or asked.digest  # what was read is what is signed
        if asked.status == "open" and not typer.confirm("Sign this?", err=True):
            raise typer.Exit(1)
    given(api.sign(question, repo, ssh_key=ssh_key, digest=digest), repo, as_json=json)
