"""`referee bench`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from referee.cli import options as o

bench = typer.Typer(
    help="Evaluation: make tasks from real bugs, let players try them, report.", no_args_is_help=True,
    rich_markup_mode=None,
)  # fmt: skip
_Out = Annotated[str, typer.Option("--out", metavar="FILE", help="Where the tasks go, one JSON line each; a new file.")]


@bench.command("mine")
def mine(  # noqa: PLR0913 - one parameter per option is how typer reads them
    repo: Annotated[str, typer.Argument(metavar="REPO", help="A clone; with --releases the name of a package.")],
    out: _Out,
    most: Annotated[int, typer.Option(metavar="N", help="How many of the newest commits to look at.")] = 200,
    issues: Annotated[
        str, typer.Option(metavar="FILE", help="Look only at the commits that these JSON lines name as `fix`.")
    ] = "",
    releases: Annotated[
        str, typer.Option(metavar="OLD..NEW", help="Compare two releases' source archives, function by function.")
    ] = "",
    repos: Annotated[str, typer.Option(metavar="DIR", help="Where the source archives are.")] = ".",
    quiet: o.Quiet = False,
) -> None:
    """Make tasks: changes whose tests fail without them and pass with them, seen three times in the sandbox.

    Example: referee bench mine ~/src/click --out tasks.jsonl --most 50
    """
    from referee.api.bench import Mining
    from referee.api.bench import mine as mined
    from referee.cli.output import put
    from referee.cli.running import running
    from referee.domain.errors import UsageError

    wanted = Mining(repo=repo, most=most, issues=issues, releases=releases, archives=repos)
    with running(quiet=quiet) as display:
        found = mined(wanted, (lambda _: None) if quiet else display.note)
        try:
            file = open(out, "x", encoding="utf-8")  # noqa: SIM115 - entered below
        except OSError as wrong:
            raise UsageError(f"{out} cannot be made ({wrong.strerror}); give --out a new file's name") from None
        count = 0
        try:
            with file:
                for task in found:
                    file.write(task.model_dump_json(exclude_defaults=True) + "\n")
                    file.flush()
                    count += 1
        except BaseException:
            if not count:  # an empty file would stand in the way of the corrected command
                os.unlink(out)
            raise
    put(f"{count} tasks in {out}\n")


@bench.command("run")
def run(  # noqa: PLR0913 - one parameter per option is how typer reads them
    tasks: Annotated[str, typer.Argument(metavar="TASKS", help="JSON lines, as `referee bench mine` writes them.")],
    out: Annotated[str, typer.Option(metavar="DIR", help="Where everything is kept; run again to go on.")],
    configs: Annotated[
        str, typer.Option(metavar="NAMES", help="A bare, B checks only, C checks and budget, D all; D@4: with 4 steps.")
    ] = "A,B,C,D",
    player: Annotated[
        str, typer.Option(metavar="search|adversary|model|command:ARGV", help="Who plays. The adversary is simulated.")
    ] = "search",
    repeats: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="How often each is played.")] = 1,
    repos: Annotated[str, typer.Option(metavar="DIR", help="Where the clones or source archives are.")] = ".",
    jobs: Annotated[int, typer.Option("-j", metavar="N", min=1, max=64, help="Tasks played at a time.")] = 1,
    only: Annotated[list[str] | None, typer.Option(metavar="TASK", help="Only this task; repeatable.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the player; each repeat has the next.")] = 0,
    max_steps: o.MaxSteps = None,
    timeout: o.Timeout = None,
    model: Annotated[
        str | None, typer.Option(metavar="PROVIDER:NAME", help="The model that plays, or that the adversary wraps.")
    ] = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Let a player try tasks under configurations of the same shell, judged by the fixes' own tests, some never shown.

    Example: referee bench run tasks.jsonl --player search --repos ~/src --out results
    """
    from referee.api.bench import Experiment, Player
    from referee.api.bench import run as played
    from referee.cli.output import document, put
    from referee.cli.running import running
    from referee.config import load
    from referee.evals.report.text import table

    given = {"budget.max_steps": max_steps, "budget.timeout": timeout, "models.default": model}
    budget = load(".", flags=given).budget
    flags = {"models.default": model} if model else {}
    experiment = Experiment(
        tasks=tasks, configs=configs, player=Player(name=_player(player, model), flags=flags), repeats=repeats,
        repos=repos, out=out, jobs=jobs, seed=seed, budget=budget, only=tuple(only or ()),
    )  # fmt: skip
    with running(quiet=quiet) as display:
        summary = played(experiment, (lambda _: None) if quiet else display.note)
    document(summary) if json else put(table(summary))


def _player(name: str, model: str | None) -> str:
    from referee.domain.errors import UsageError

    if name not in ("search", "adversary", "model") and not name.removeprefix("command:").strip():
        raise UsageError("--player command: names no program; use search, adversary, model or command:ARGV")
    if name not in ("search", "adversary", "model") and not name.startswith("command:"):
        raise UsageError(f"there is no player {name!r}; use search, adversary, model or command:ARGV")
    if name == "model" and not model:
        raise UsageError("--player model needs --model PROVIDER:NAME")
    return name


@bench.command("report")
def report(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The --out of `referee bench run`.")],
    other: Annotated[str, typer.Argument(metavar="DIR2", help="Another one, to compare with.", show_default="")] = "",
    output: Annotated[
        list[str] | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write FILE: *.html, *.md or *.json; repeatable."),
    ] = None,
    json: o.Json = False,
) -> None:
    """Show what was played: a table here, or a page with plots.

    Example: referee bench report results -o results.html -o results.md
    """
    from referee.api.bench import read_summary
    from referee.cli.output import document, put
    from referee.domain.errors import UsageError
    from referee.evals.report.markdown import markdown
    from referee.evals.report.page import page
    from referee.evals.report.text import compared, table

    one, two = read_summary(folder), read_summary(other) if other else None
    forms = {".html": page, ".md": markdown}
    for path in output or ():
        form = next((made for ending, made in forms.items() if path.endswith(ending)), None)
        if form is None and not path.endswith(".json"):
            raise UsageError(f"{path} ends in none of .html, .md, .json; name it so that its form is known")
        text = form(one, two) if form else one.model_dump_json(indent=2) + "\n"
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as wrong:
            raise UsageError(f"{path} cannot be written ({wrong.strerror})") from None
    if json:
        document(one)
    else:
        put((compared(one, two) + "\n" if two else "") + table(one))
