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
    AG_UI = "ag-ui"
    ACP = "acp"


def export(
    run: o.RunId,
    repo: o.Repo = ".",
    form: Annotated[
        Target,
        typer.Option(
            "--format",
            help="atif: a trajectory; otlp: spans to a collector; ag-ui, acp: events and messages, as JSON lines.",
        ),
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
    elif form in (Target.AG_UI, Target.ACP):
        told = api.ag_ui(run, repo) if form is Target.AG_UI else api.acp(run, repo)
        put("".join(json.dumps(document) + "\n" for document in told))
    else:
        put(f"{api.send_spans(run, endpoint, repo)} spans sent to {endpoint}\n")
