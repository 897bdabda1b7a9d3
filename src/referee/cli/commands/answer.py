"""`referee answer`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o

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

    given(api.answer(question, text, repo).model_dump(), question, repo, as_json=json)


def given(what: dict[str, str], question: str, repo: str, *, as_json: bool) -> None:
    """Say what became of the question, and what goes on with its run."""
    from json import dumps

    from referee import api
    from referee.cli.output import put

    if as_json:
        put(dumps(what) + "\n")
    elif what["status"] == "open":
        put(f"{question} takes one more person\n")
    else:
        put(f"{question} is answered; to go on: referee resume {api.question(question, repo).run_id}\n")
