"""`referee resume`."""

from __future__ import annotations

from referee.cli import options as o


def resume(  # noqa: PLR0913 - one parameter per option is how typer reads them
    run: o.RunId,
    repo: o.Repo = ".",
    max_steps: o.MaxSteps = None,
    timeout: o.Timeout = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    require_isolation: o.RequireIsolation = False,
    allow_degraded: o.AllowDegraded = False,
    wait: o.Wait = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Continue a run that was stopped, or one whose budget ended with a larger budget; nothing is paid twice.

    Example: referee resume 20250101-120000-ab12 --max-steps 16
    """
    given = {k: v for k, v in o.budget_flags(max_steps, timeout, max_tokens, max_cost).items() if v is not None}
    flags = o.isolation_flag(require_isolation, allow_degraded)
    config = o.settings(repo, given | flags)
    checked = config.budget
    from referee import api
    from referee.cli.running import finish, running

    names = [name.removeprefix("budget.") for name in given]
    budget = {name: getattr(checked, name) for name in names}
    with running(quiet=quiet) as display:
        isolation = config.isolation if flags["isolation"] else None
        outcome = api.resume(run, repo, budget, display, display.note if wait else None, isolation)
    finish(outcome, display, as_json=json)
