"""`referee validate`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o


def validate(
    schema: Annotated[
        str, typer.Argument(metavar="SCHEMA", help="A JSON Schema file, or MODULE:MODEL of the repository's.")
    ],
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Documents: JSON, JSON lines or TOML.")],
    repo: o.Repo = ".",
    require_isolation: o.RequireIsolation = False,
    allow_degraded: o.AllowDegraded = False,
    json: o.Json = False,
) -> None:
    """Hold documents against a JSON Schema (2020-12) or a pydantic model: one line per error, exit 1 if there is any.

    A model's code runs in the sandbox, with the project's own Python. References that lead out of a schema are refused.

    Example: referee validate order.schema.json orders/*.json

    Example: referee validate shop.orders:Order orders.jsonl
    """
    config = o.settings(repo, o.isolation_flag(require_isolation, allow_degraded))
    from referee import api
    from referee.cli.output import document, put
    from referee.cli.running import running
    from referee.render.plain import line

    with running(quiet=True) as display:
        found = api.validate(schema, files, repo, config, display)
    if json:
        document(found)
    else:
        put("".join(f"{line(v.words)}\n" for v in found.violations))
    raise typer.Exit(0 if found.valid else 1)
