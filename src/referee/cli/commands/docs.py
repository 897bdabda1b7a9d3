"""`referee docs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.documented import Objection, Reference

SHOWN = 20


def docs(  # noqa: PLR0913 - one parameter per option is how typer reads them
    source: Annotated[str, typer.Argument(metavar="SRC", help="A module, a package, or a folder of them.")] = ".",
    out: Annotated[
        str, typer.Option(metavar="PLACE", help="Write them: a folder of pages, or one file FILE.md or FILE.json.")
    ] = "",
    check: Annotated[
        str,
        typer.Option(metavar="PLACE", help="Compare with what --out wrote there; exit 1 if it is stale."),
    ] = "",
    audit: Annotated[
        bool, typer.Option("--audit", help="Only what is undocumented or documented wrongly; exit 1 if anything is.")
    ] = False,
    repo: o.Repo = ".",
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Print the documentation of a Python interface as Markdown or JSON, from its source; nothing is imported.

    Docstrings may be written in the styles of Google, NumPy or Sphinx. What is wrong with them is told on standard
    error.

    Example: referee docs src/shop --out docs/reference

    Example: referee docs src/shop --check docs/reference
    """
    from referee.cli.place import repository

    repository.set(repo)
    from referee import api
    from referee.domain.documented import objections
    from referee.domain.errors import UsageError

    if sum(map(bool, (out, check, audit))) > 1:
        raise UsageError("--out, --check and --audit are three different things to do; give one of them")
    reference = api.docs(source, repo)
    found = objections(reference)
    if audit:
        _audited(found, json)
        raise typer.Exit(1 if found else 0)
    if not quiet:
        _tell(found)
    if out:
        _written(api.write_docs(reference, out), json)
    elif check:
        raise typer.Exit(_checked(reference, check, json))
    else:
        _printed(reference, json)


def _printed(reference: Reference, json: bool) -> None:
    from referee import api
    from referee.cli.output import put, shown
    from referee.render.reference import whole

    put(api.document(reference) if json else shown(whole(reference)))


def _checked(reference: Reference, place: str, json: bool) -> int:
    """1 if a page is not what the source says now."""
    from json import dumps

    from referee import api
    from referee.cli.output import put, shown

    pages = api.stale(reference, place)
    if json:
        put(dumps({"stale": sorted(pages)}) + "\n")
    else:
        put("".join(shown(diff) for diff in pages.values()))
        words = f"stale: {', '.join(pages)}; renew with `referee docs … --out {place}`" if pages else "up to date"
        put(f"{place}: {words}\n")
    return 1 if pages else 0


def _written(files: Sequence[str], json: bool) -> None:
    from json import dumps

    from referee.cli.output import put

    put(dumps({"written": files}) + "\n" if json else "".join(f"wrote {f}\n" for f in files) or "nothing changed\n")


def _audited(found: Sequence[Objection], json: bool) -> None:
    from json import dumps

    from referee.cli.output import put
    from referee.render.plain import line

    if json:
        put(dumps([o.model_dump() for o in found]) + "\n")
    else:
        put("".join(f"{line(o.words)}\n" for o in found))


def _tell(found: Sequence[Objection]) -> None:
    """The first of them on standard error, what misleads before what is missing."""
    from referee.cli.ending import say
    from referee.render.plain import line

    for objection in found[:SHOWN]:
        say(line(objection.words))
    if len(found) > SHOWN:
        say(f"and {len(found) - SHOWN} more; --audit lists them")
