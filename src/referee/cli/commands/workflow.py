"""`referee workflow`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o


def workflow(  # noqa: PLR0913 - one parameter per option is how typer reads them
    file: Annotated[str, typer.Argument(metavar="FILE", help="A Python file of yours with main(flow).")],
    repo: o.Repo = ".",
    args: Annotated[str, typer.Option(metavar="JSON", help="An object, to be read as flow.arguments.")] = "{}",
    max_steps: o.MaxSteps = None,
    timeout: o.Timeout = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    model: o.Model = None,
    land: o.Land = None,
    wait: o.Wait = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Run a workflow: the file runs as you and says which steps are done; each step is a call under the same rules.

    Example: referee workflow flows/upgrade.py --args '{"package": "attrs"}'
    """
    budget = o.budget_flags(max_steps, timeout, max_tokens, max_cost)
    config = o.settings(repo, budget | {"generator": "agent", "models.default": model, "land": land})
    from referee import api
    from referee.cli.running import finish, running

    with running(quiet=quiet) as display:
        outcome = api.workflow(file, repo, config, display, display.note if wait else None, arguments=args)
    finish(outcome, display, as_json=json, whole=True)
