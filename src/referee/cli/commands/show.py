"""`referee show`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.report import Report


class Form(StrEnum):
    """What a report is shown as."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    DIFF = "diff"
    CHANGELOG = "changelog"


def show(
    run: o.RunId,
    repo: o.Repo = ".",
    form: Annotated[
        Form, typer.Option("--format", help="How to show the report; diff is only that, changelog one line for people.")
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
    elif form is Form.CHANGELOG:
        put(_entry(outcome.report))
    else:
        put((html if form is Form.HTML else markdown)(outcome.report, outcome.diff))


def _entry(report: Report) -> str:
    """What a changelog says of the run. Raises `UsageError` for a run that changed nothing."""
    from referee.domain.commit_message import Repaired, changelog_entry
    from referee.domain.errors import UsageError

    if not report.solved:
        raise UsageError(f"run {report.run_id} changed nothing, so a changelog has nothing to say of it")
    return changelog_entry(
        Repaired(run_id=report.run_id, task=report.task, targets=report.targets, touched=report.touched_files)
    )
