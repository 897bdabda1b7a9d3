"""`referee fix`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o


def fix(  # noqa: PLR0913 - one parameter per option is how typer reads them
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is wrong, in a sentence.", show_default=False)] = "",
    repo: o.Repo = ".",
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A test that fails now; repeat for several.", show_default="the failing suite"),
    ] = None,
    max_steps: o.MaxSteps = None,
    timeout: o.Timeout = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    generator: Annotated[
        str | None,
        typer.Option(
            metavar="auto|search|model|agent|command:ARGV",
            help="Who proposes. auto: linters' own fixes, the search (bounded), then the model if one is configured.",
            show_default="auto",
        ),
    ] = None,
    model: o.Model = None,
    cheap_model: o.CheapModel = None,
    fixer_model: Annotated[str | None, o.model_option("The model that mends a failed proposal.")] = None,
    evaluator_model: o.EvaluatorModel = None,
    base_url: o.BaseUrl = None,
    price: o.Price = None,
    record: o.Record = None,
    candidates: Annotated[
        int | None, typer.Option(metavar="N", help="Candidates judged in parallel.", show_default="1")
    ] = None,
    land: o.Land = None,
    allow_overfitted: Annotated[
        bool | None,
        typer.Option(
            "--allow-overfitted/--hold-overfitted",
            help="Whether a patch lands whose author says that it may only fit the tests.",
            show_default="it lands, and the report says so",
        ),
    ] = None,
    ask_before_landing: Annotated[
        bool, typer.Option("--ask-before-landing", help="Wait for a person's yes before a result reaches your files.")
    ] = False,
    preset: Annotated[
        str | None,
        typer.Option(metavar="bugfix|types|deps|lint|scaffold|tests", help="The kind of work.", show_default="bugfix"),
    ] = None,
    seed: o.Seed = None,
    python: o.Python = None,
    require_isolation: o.RequireIsolation = False,
    allow_degraded: o.AllowDegraded = False,
    wait: o.Wait = False,
    engine: o.Engine = o.EngineName.LOCAL,
    priority: Annotated[
        int, typer.Option(metavar="N", min=1, max=1_000, help="With --engine dbos: the lower, the sooner.")
    ] = 100,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing. It never answers a signature.")] = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Repair what fails, inside a budget; your files change only if every check passes.

    Example: referee fix "discounts are wrong" --target tests/test_cart.py::test_discount
    """
    config = o.settings(
        repo,
        o.budget_flags(max_steps, timeout, max_tokens, max_cost)
        | o.isolation_flag(require_isolation, allow_degraded)
        | {
            "generator": generator,
            "models.default": model,
            "models.cheap": cheap_model,
            "models.fixer": fixer_model,
            "models.evaluator": evaluator_model,
            "models.base_url": base_url,
            "models.price": price,
            "record": record,
            "candidates": candidates,
            "land": land,
            "allow_overfitted": allow_overfitted,
            "ask_before_landing": "approval" if ask_before_landing else None,
            "preset": preset,
            "seed": seed,
            "python": python,
        },
    )
    from referee import api
    from referee.cli.running import finish, running
    from referee.domain.task import Task

    asked = Task(repo=repo, text=task, targets=tuple(target or ()))
    if engine is o.EngineName.DBOS:
        from referee.api.engine import queue
        from referee.cli.output import document, put

        queued = queue(asked, config, priority)
        document(queued) if json else put(f"{queued.run_id} is queued; `referee worker --slots 2` takes it\n")
        return
    with running(quiet=quiet) as display:
        outcome = api.fix(asked, config, display, display.note if wait else None)
    finish(outcome, display, as_json=json)
