"""The options that several commands share, and from them the settings of a run."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from referee.config import Config


class EngineName(StrEnum):
    """Where a run is done."""

    LOCAL = "local"
    DBOS = "dbos"


Engine = Annotated[
    EngineName, typer.Option("--engine", help="local: here and now. dbos: queued in REFEREE_DATABASE, for a worker.")
]
Repo = Annotated[str, typer.Option("--repo", metavar="DIR", help="The git repository, or a folder in it.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output, nothing else there.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress; only what is loud, and the result.")]
Wait = Annotated[bool, typer.Option("--wait", help="If another run works in this repository, wait until it ends.")]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="A run's id; `referee runs` lists them.")]
MaxSteps = Annotated[
    int | None, typer.Option(metavar="N", help="Judged proposals at most.", show_default="8 or as configured")
]
Timeout = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Wall clock at most.", show_default="240 or as configured")
]
MaxTokens = Annotated[
    int | None, typer.Option(metavar="N", help="Model tokens at most.", show_default="400000 or as configured")
]
MaxCost = Annotated[
    str | None, typer.Option(metavar="USD", help="Money for models at most.", show_default="0.50 or as configured")
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of the search.", show_default="0")]
AllowDomain = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Let the command connect to this host (HOST or HOST:PORT), through a proxy; repeatable.",
        show_default="none or as configured",
    ),
]
Python = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="The project's interpreter.", show_default="the project's .venv, else referee's"),
]
RequireIsolation = Annotated[
    bool, typer.Option("--require-isolation", help="Refuse to run anything unless the sandbox isolates fully.")
]
AllowDegraded = Annotated[
    bool, typer.Option("--allow-degraded", help="Run even where this machine cannot isolate, and say so loudly.")
]


def model_option(help: str) -> typer.models.OptionInfo:
    """An option that names a model."""
    return typer.Option(metavar="PROVIDER:NAME", help=help, show_default="as configured")  # type: ignore[no-any-return]


Model = Annotated[str | None, model_option("The model that proposes; also scripted:FILE, recorded:FILE.")]
CheapModel = Annotated[str | None, model_option("The model when the budget gets short.")]
EvaluatorModel = Annotated[str | None, model_option("The model that may object.")]
BaseUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="An OpenAI-compatible server.", show_default="the provider's")
]
Price = Annotated[
    str | None,
    typer.Option(
        metavar="IN,OUT", help="US dollars per million tokens, for a model no list prices.", show_default="listed"
    ),
]
Record = Annotated[
    str | None, typer.Option(metavar="FILE", help="Record the model's answers, to replay with recorded:FILE.")
]
Land = Annotated[
    str | None,
    typer.Option(
        metavar="tree|commit|branch:NAME|patch:FILE|pr|none", help="Where a result goes.", show_default="tree"
    ),
]


def settings(repo: str, flags: dict[str, Any]) -> Config:
    """The configuration of `repo` under the options given. Raises `UsageError` in words."""
    from referee.cli.place import repository
    from referee.config import load

    repository.set(repo)
    return load(repo, flags=flags)


def budget_flags(
    max_steps: int | None, timeout: float | None, max_tokens: int | None, max_cost: str | None
) -> dict[str, Any]:
    """The budget options by the names that configuration has for them."""
    return {
        "budget.max_steps": max_steps,
        "budget.timeout": timeout,
        "budget.max_tokens": max_tokens,
        "budget.max_cost_usd": max_cost,
    }


def isolation_flag(require: bool, degraded: bool) -> dict[str, Any]:
    """The isolation options as one setting. Raises `UsageError` if both are given."""
    if require and degraded:
        from referee.domain.errors import UsageError

        raise UsageError("--require-isolation and --allow-degraded contradict each other; give one of them")
    return {"isolation": "required" if require else "degraded" if degraded else None}
