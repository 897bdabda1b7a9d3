"""`referee bench`."""

from __future__ import annotations

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
        with file:
            for task in found:
                file.write(task.model_dump_json(exclude_defaults=True) + "\n")
                file.flush()
                count += 1
    put(f"{count} tasks in {out}\n")
