"""`referee answer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.question import Given

QuestionId = Annotated[str, typer.Argument(metavar="ID", help="A question's id; `referee questions` lists them.")]


def answer(
    question: QuestionId,
    text: Annotated[str, typer.Argument(metavar="yes|no|TEXT", help="The answer; an option may be named by number.")],
    repo: o.Repo = ".",
    json: o.Json = False,
) -> None:
    """Answer what a run asks. A yes to what must be signed takes `referee sign`; a no never does.

    Example: referee answer q-0123456789 yes
    """
    o.settings(repo, {})
    from referee import api

    given(api.answer(question, text, repo), repo, as_json=json)


def given(what: Given, repo: str, *, as_json: bool) -> None:
    """Say what became of the question, and what goes on with its run."""
    from referee import api
    from referee.cli.output import document, put

    if as_json:
        document(what)
    elif what.status == "open":
        put(f"{what.id} takes one more person\n")
    elif what.queued:
        put(f"{what.id} is answered; a worker goes on with its run\n")
    else:
        put(f"{what.id} is answered; to go on: referee resume {api.question(what.id, repo).run_id}\n")
