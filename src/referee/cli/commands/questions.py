"""`referee questions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.question import Asked


def questions(
    question: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One question in full.", show_default="all that wait")
    ] = None,
    repo: o.Repo = ".",
    everything: Annotated[bool, typer.Option("--all", help="Also those that are answered or expired.")] = False,
    json: o.Json = False,
) -> None:
    """List what waits for a person, or show one question: all that a signature covers.

    With --json, one line for each question, answered and expired ones too.

    Example: referee questions
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put
    from referee.render.plain import line

    if question is not None:
        asked = api.question(question, repo)
        if json:
            document(asked)
        else:
            put(in_full(asked))
        return
    for waiting in api.questions(repo):
        if json:
            document(waiting)
        elif everything or waiting.status == "open":
            when = f"until {waiting.expires_at[:16]}Z" if waiting.status == "open" else waiting.status
            put(f"{waiting.id}  {waiting.kind.value:<9}  {when}  {line(waiting.summary, 90)}\n")


def in_full(asked: Asked) -> str:
    """A question with everything that its digest covers, neutralised for a terminal."""
    from referee.cli.output import shown
    from referee.render.plain import line

    rows = [
        f"{asked.id}: {line(asked.summary)}",
        f"  kind     {asked.kind.value}, {asked.status}; counts until {asked.expires_at}",
        f"  run      {asked.run_id}, asked by {line(asked.requester) or 'the run'} at {asked.asked_at}",
        f"  digest   {asked.digest}",
    ]
    if asked.demand.persons > 1:
        rows.append(f"  people   {asked.demand.persons} different ones, with SSH keys")
    elif asked.demand.ssh:
        rows.append("  key      an SSH key")
    rows += [f"  option   {number} {line(option)}" for number, option in enumerate(asked.options, start=1)]
    rows += [f"  {line(a.text):<8} {line(a.by)} at {a.at}, {a.how}" for a in asked.answers]
    return "\n".join(rows) + "\n\n" + shown(asked.shown).rstrip("\n") + "\n"
