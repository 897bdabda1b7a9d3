"""`referee stop`."""

from __future__ import annotations

from referee.cli import options as o


def stop(run: o.RunId, repo: o.Repo = ".", json: o.Json = False) -> None:
    """Stop a run: take it out of the queue, or end it where it is at work, as safely as Ctrl-C there.

    Example: referee stop 20250101-120000-ab12cd34
    """
    o.settings(repo, {})
    from json import dumps

    from referee.api.engine import stop as stopped
    from referee.cli.output import put

    at_work = stopped(run, repo)
    if json:
        put(dumps({"run_id": run, "status": "stopping" if at_work else "stopped"}) + "\n")
    elif at_work:
        put(f"run {run} is asked to stop; `referee resume {run}` goes on\n")
    else:
        put(f"run {run} is out of the queue; `referee resume {run}` goes on\n")
