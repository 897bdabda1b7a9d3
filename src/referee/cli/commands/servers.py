"""`referee servers`: MCP servers that the repository names, and which are approved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.api.trust import ServerRow

servers = typer.Typer(
    help="MCP servers of a repository (.mcp.json), for the agent.", no_args_is_help=True, rich_markup_mode=None
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A server's name in .mcp.json.")]


@servers.command("list")
def list_(repo: o.Repo = ".", json: o.Json = False) -> None:
    """Start each server, in the sandbox, and list its tools; JSON lines with --json.

    Example: referee servers list
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.ending import say
    from referee.cli.output import document, put
    from referee.cli.signals import cancellable

    with cancellable():
        found, notes = api.servers(repo)
    for note in notes:
        say(note)
    for row in found:
        if json:
            document(row)
        else:
            put(_words(row))


@servers.command("approve")
def approve(name: Name, repo: o.Repo = ".", json: o.Json = False) -> None:
    """Let the agent use a server with exactly the tools it has now; any changed word needs approval again.

    Example: referee servers approve tickets
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put
    from referee.cli.signals import cancellable

    with cancellable():
        row = api.approve_server(name, repo)
    if json:
        document(row)
    else:
        put(_words(row))


@servers.command("revoke")
def revoke(name: Name, repo: o.Repo = ".") -> None:
    """Take an approval back.

    Example: referee servers revoke tickets
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import put

    put(f"{name} is no longer approved\n" if api.revoke_server(name, repo) else f"{name} was not approved\n")


def _words(row: ServerRow) -> str:
    from referee.render.plain import line, plain

    server = row.server
    where = line(server.url or " ".join((server.command, *server.args)), 100)
    if row.problem:
        return f"{server.name}  cannot be used  {where}\n    {line(row.problem)}\n"
    state = (
        "approved" if row.approved else f"not approved; `referee servers approve {server.name}` lets the agent use it"
    )
    text = f"{server.name}  {where}\n    {state}\n"
    for tool in row.tools:
        about = plain(tool.description).strip().replace("\n", "\n        ")
        text += f"    {line(tool.tool)} ({tool.risk.value})\n" + (f"        {about}\n" if about else "")
    return text
