"""`referee deps`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.resolution import Resolution


def deps(
    upgrade: Annotated[
        list[str] | None,
        typer.Option(metavar="PKG", help="Free this package's pin, or ask for more: 'click>=8.2'; repeatable."),
    ] = None,
    python: Annotated[
        str, typer.Option(metavar="VERSION", help="Resolve for this Python, as in 3.12.", show_default="the project's")
    ] = "",
    write: Annotated[bool, typer.Option("--write", help="Set the exact pins in the project's files.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Use only what uv has in its cache.")] = False,
    repo: o.Repo = ".",
    json: o.Json = False,
) -> None:
    """Find dependency versions that exist and go together, with uv's resolver; exit 1 and the reason if none do.

    Nothing is installed or built, and nothing is written without --write. The index is the one that uv is configured
    to use for you.

    Example: referee deps --upgrade 'click>=8.2'
    """
    from referee.cli.place import repository

    repository.set(repo)
    from referee import api
    from referee.cli.output import document, put

    found = api.deps(repo, upgrade or (), python, write=write, offline=offline)
    document(found) if json else put(_text(found))
    raise typer.Exit(1 if found.conflicts else 0)


def _text(found: Resolution) -> str:
    from referee.render.plain import line

    rows = [f"note: {line(n)}" for n in found.notes]
    for conflict in found.conflicts:
        rows += [f"impossible: {line(conflict.why)}", *(f"  {line(r)}" for r in conflict.requirements)]
    if found.changed:
        rows += [f"{n}  {before or 'new'} -> {after or 'gone'}" for n, (before, after) in found.changed.items()]
    elif not found.conflicts:
        rows += [f"{n}=={v}" for n, v in sorted(found.resolved.items())]
    if found.written:
        rows.append(f"wrote {', '.join(found.written)}")
    elif found.changed:
        rows.append("nothing is written; --write sets the pins")
    return "\n".join(rows) + "\n"
