"""`referee doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.report import BackendReport


def doctor(json: o.Json = False) -> None:
    """Probe what this machine can isolate, and say what would make it better.

    Example: referee doctor
    """
    from referee import api
    from referee.cli.output import document, put
    from referee.cli.signals import cancellable

    with cancellable():
        found = api.doctor()
    if json:
        document(found)
        return
    put("".join(_rows(b) for b in found.backends))
    put(f"chosen: {found.chosen or 'none; nothing will run without --allow-degraded'}\n")
    put(f"your own settings: {found.user_file}\n")


def _rows(backend: BackendReport) -> str:
    from referee.render.plain import line

    state = "usable" if backend.usable else "not usable"
    rows = [f"{backend.name:<12} {state:<10} {backend.level}"]
    rows += [f"    {name}: {line(str(value), 100)}" for name, value in sorted(backend.probes.items())]
    rows += [
        f"    {word}: {line(text)}" for word, text in (("why", backend.why_not), ("better", backend.advice)) if text
    ]
    return "\n".join(rows) + "\n"
