"""`referee agent`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o


def agent(  # noqa: PLR0913 - one parameter per option is how typer reads them
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK", help="What is to be done, or asked; without it, a conversation.", show_default=False
        ),
    ] = "",
    repo: o.Repo = ".",
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A test that fails now and must pass; repeat for several."),
    ] = None,
    max_steps: o.MaxSteps = None,
    timeout: o.Timeout = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    model: o.Model = None,
    cheap_model: o.CheapModel = None,
    evaluator_model: o.EvaluatorModel = None,
    base_url: o.BaseUrl = None,
    price: o.Price = None,
    record: o.Record = None,
    land: o.Land = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="read-only|cautious|trusted",
            help="What its tools may do.",
            show_default="cautious or as configured",
        ),
    ] = None,
    python: o.Python = None,
    require_isolation: o.RequireIsolation = False,
    allow_degraded: o.AllowDegraded = False,
    wait: o.Wait = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Let a model with tools work in an isolated copy; your files change only if the checks pass.

    Where nothing can judge the change, it is kept as a patch and a person decides (exit 4).

    Example: referee agent "why is the total wrong for empty carts? mend it" --model openai:gpt-5-mini
    """
    config = o.settings(
        repo,
        o.budget_flags(max_steps, timeout, max_tokens, max_cost)
        | o.isolation_flag(require_isolation, allow_degraded)
        | {
            "generator": "agent",
            "models.default": model,
            "models.cheap": cheap_model,
            "models.evaluator": evaluator_model,
            "models.base_url": base_url,
            "models.price": price,
            "record": record,
            "land": land,
            "policy": policy,
            "python": python,
        },
    )
    from referee import api
    from referee.cli.running import finish, running
    from referee.domain.task import Task

    if not task:
        from referee.cli.conversation import converse

        converse(repo, config)
        return
    with running(quiet=quiet) as display:
        asked = Task(repo=repo, text=task, targets=tuple(target or ()))
        outcome = api.agent(asked, config, display, display.note if wait else None)
    finish(outcome, display, as_json=json, whole=True)
