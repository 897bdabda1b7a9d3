"""`referee insights`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.insight import Insights


def insights(
    repo: o.Repo = ".",
    last: Annotated[int, typer.Option(metavar="N", min=1, help="Only the newest N runs.")] = 1_000,
    json: o.Json = False,
) -> None:
    """Say what the runs of a repository have in common: failures that recur, tools misused, time and money.

    Example: referee insights --last 100
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put

    found = api.insights(repo, last=last)
    if json:
        document(found)
    else:
        put(in_words(found))


def in_words(found: Insights) -> str:
    """The insights as plain text, what to do first at the top."""
    from referee.render.plain import line
    from referee.render.words import dollars

    rows = [f"{found.runs} run{'' if found.runs == 1 else 's'}, {found.solved} solved"]
    rows += [f"  {n}. {line(words, 160)}" for n, words in enumerate(found.first, start=1)]
    for title, groups in (("by author", found.by_generator), ("by ending", found.by_reason)):
        rows += ["", title] if groups else []
        rows += [
            f"  {line(g.name, 24):<24} {g.runs:>4} runs {g.solved:>4} solved {g.seconds:>9.1f} s {dollars(g.usd):>9}"
            for g in groups
        ]
    rows += ["", "failures that recur"] if found.recurring else []
    rows += [f"  {r.fingerprint} in {r.runs} runs: {line(', '.join(r.failed), 100)}" for r in found.recurring]
    rows += ["", "calls of tools"] if found.tools else []
    rows += [f"  {line(t.tool, 24):<24} {t.calls:>5} calls, {t.invalid_rate:.0%} invalid" for t in found.tools]
    return "\n".join(rows) + "\n"
