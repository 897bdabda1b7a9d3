"""`referee hooks`: commands of the repository's that run around tools, and how far they are trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.ports import Hooked

hooks = typer.Typer(
    help="Commands of a repository that run around an agent's tools.", no_args_is_help=True, rich_markup_mode=None
)


@hooks.command("list")
def list_(repo: o.Repo = ".", json: o.Json = False) -> None:
    """List the hooks of the repository, and whether they are trusted as they are now.

    Example: referee hooks list
    """
    o.settings(repo, {})
    from referee import api

    _show(api.hooks(repo), as_json=json)


@hooks.command("trust")
def trust(
    repo: o.Repo = ".",
    as_me: Annotated[
        bool, typer.Option("--as-me", help="Let them run as you, on your machine; else they run in the sandbox.")
    ] = False,
    json: o.Json = False,
) -> None:
    """Trust exactly the hooks of now, with the scripts of the repository that they name. Read them first.

    Example: referee hooks trust
    """
    o.settings(repo, {})
    from referee import api
    from referee.domain.hooks import Trusted

    _show(api.trust_hooks(Trusted.AS_ME if as_me else Trusted.INSIDE, repo), as_json=json)


@hooks.command("revoke")
def revoke(repo: o.Repo = ".", json: o.Json = False) -> None:
    """Trust them no more: they do not run.

    Example: referee hooks revoke
    """
    o.settings(repo, {})
    from referee import api
    from referee.domain.hooks import Trusted

    _show(api.trust_hooks(Trusted.NOT, repo), as_json=json)


def _show(found: Hooked, *, as_json: bool) -> None:
    from referee.cli.ending import say
    from referee.cli.output import document, put
    from referee.domain.hooks import Trusted
    from referee.render.plain import line

    for note in found.notes:
        say(note)
    if as_json:
        document(found)
        return
    for hook in found.hooks:
        put(f"{hook.moment.value:<11}  {line(hook.matcher) or '*'}  {line(hook.command)}\n")
    how = {
        Trusted.NOT: "they do not run: `referee hooks trust` lets them run in the sandbox",
        Trusted.INSIDE: "trusted as they are now: they run in the sandbox",
        Trusted.AS_ME: "trusted as they are now: they run as you, on your machine",
    }
    put(f"{how[found.trusted]}\n" if found.hooks else "no hooks\n")
