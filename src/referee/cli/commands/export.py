"""`referee export`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from referee.cli import options as o


class Target(StrEnum):
    """What a run is exported as."""

    ATIF = "atif"
    OTLP = "otlp"


def export(
    run: o.RunId,
    repo: o.Repo = ".",
    form: Annotated[
        Target, typer.Option("--format", help="atif: a trajectory on standard output; otlp: spans to a collector.")
    ] = Target.ATIF,
    endpoint: Annotated[
        str, typer.Option(metavar="URL", help="Where the collector takes traces over OTLP/HTTP.")
    ] = "http://127.0.0.1:4318/v1/traces",
) -> None:
    """Hand a run to another system. Its journal as JSON lines is `referee show RUN --journal`.

    Example: referee export 20250101-120000-ab12 --format otlp --endpoint http://127.0.0.1:4318/v1/traces
    """
    o.settings(repo, {})
    import json

    from referee import api
    from referee.cli.output import put

    if form is Target.ATIF:
        put(json.dumps(api.trajectory(run, repo), indent=2) + "\n")
    else:
        put(f"{api.send_spans(run, endpoint, repo)} spans sent to {endpoint}\n")
