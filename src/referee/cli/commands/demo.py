"""`referee demo`."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import options as o


def demo(
    keep: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keep the repaired repository here.", show_default="removed")
    ] = None,
    allow_degraded: o.AllowDegraded = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Repair a real bug in a bundled sample project: no key, no network.

    Example: referee demo --keep shop
    """
    import sys

    from referee import api
    from referee.cli.running import finish, running
    from referee.cli.sample import equipped, sample
    from referee.domain.task import Task

    with running(quiet=quiet) as display, sample(keep) as place:
        # With referee's own Python: an environment that is active here may lack what the sample's tests need.
        given = {"generator": "search", "land": "tree", "python": sys.executable}
        config, lacking = equipped(o.settings(place, o.isolation_flag(False, allow_degraded) | given))
        if lacking:
            display.note(lacking)
        display.note(f"the sample project is in {place}; two of its tests fail")
        outcome = api.fix(
            Task(repo=place, text="some orders are delivered free although they should not be"), config, display
        )
    finish(outcome, display, as_json=json)
