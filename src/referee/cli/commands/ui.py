"""`referee ui`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o

_MISSING = "the page needs two more packages; install them with: pip install 'referee[ui]'"


def ui(
    repo: o.Repo = ".",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The port on loopback; 0 takes a free one.")
    ] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the link only; open no browser.")] = False,
) -> None:
    """Show the runs of a repository on a web page of this machine, live. Ends with Ctrl-C.

    Example: referee ui --port 8737
    """
    o.settings(repo, {})
    from importlib.util import find_spec

    from referee.adapters.loopback import told
    from referee.cli.output import put
    from referee.domain.errors import UsageError

    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UsageError(_MISSING)
    from referee.web import serve

    def ready(link: str) -> None:
        put(f"{link}\n")
        if not no_open and told():  # else who reads the browser's command line could come in
            import webbrowser

            webbrowser.open(link)

    serve(repo, port, ready)
