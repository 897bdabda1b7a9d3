"""`referee show`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from referee.cli import options as o


class Form(StrEnum):
    """What a report is shown as."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    DIFF = "diff"


def show(
    run: o.RunId,
    repo: o.Repo = ".",
    form: Annotated[
        Form, typer.Option("--format", help="How to show the report; diff shows only the diff.")
    ] = Form.TEXT,
    journal: Annotated[bool, typer.Option("--journal", help="The journal instead, as JSON lines.")] = False,
    json: o.Json = False,
) -> None:
    """Show the report of a run.

    Example: referee show 20250101-120000-ab12 --format html > report.html
    """
    o.settings(repo, {})
    from json import dumps

    from referee import api
    from referee.cli.output import put, result, shown
    from referee.render import html, markdown

    if journal:
        for entry in api.journal_lines(run, repo):
            put(dumps(entry) + "\n")
        return
    outcome = api.show(run, repo)
    if json or form is Form.TEXT:
        result(outcome, as_json=json)
    elif form is Form.DIFF:
        put(shown(outcome.diff))
    else:
        put((html if form is Form.HTML else markdown)(outcome.report, outcome.diff))
