"""`referee memory`: what is remembered, and who vouches for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.memory import Standing

memory = typer.Typer(
    help="What is remembered of this repository and of you.", no_args_is_help=True, rich_markup_mode=None
)
Id = Annotated[str, typer.Argument(metavar="ID", help="A memory's id; `referee memory list` names them.")]


@memory.command("list")
def list_(
    repo: o.Repo = ".",
    everything: Annotated[bool, typer.Option("--all", help="Also what has expired or was replaced.")] = False,
    json: o.Json = False,
) -> None:
    """List what counts, what waits to be confirmed and what another one overrides; JSON lines with --json.

    Example: referee memory list --all
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.ending import say
    from referee.cli.output import document, put
    from referee.domain.memory import State
    from referee.render.plain import line

    found, problems = api.memories(repo)
    for problem in problems:
        say(problem)
    for one in found:
        if json:
            document(one)
        elif everything or one.state not in (State.EXPIRED, State.SUPERSEDED):
            kind = f"{one.state.value}, {one.memory.layer.value}"
            why = f" ({line(one.why)})" if one.why else ""
            put(f"{one.memory.id}  {kind:<20}  {line(one.memory.text, 90)}{why}\n")


@memory.command("show")
def show(memory_id: Id, repo: o.Repo = ".", json: o.Json = False) -> None:
    """Show a memory in full: its text, where it is from, and whether it counts.

    Example: referee memory show run-the-tests-3fa2
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put

    one = api.memory(memory_id, repo)
    if json:
        document(one)
    else:
        put(_words(one))


@memory.command("add")
def add(  # noqa: PLR0913 - one parameter per option is how typer reads them
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember, in a sentence.")],
    repo: o.Repo = ".",
    me: Annotated[bool, typer.Option("--me", help="It is about you, wherever you work; not this repository.")] = False,
    topic: Annotated[
        str, typer.Option(metavar="WORD", help="What it is about; of two on one topic only one counts.")
    ] = "",
    expires: Annotated[str, typer.Option(metavar="DAY", help="The day from which it no longer holds.")] = "",
    supersedes: Annotated[str, typer.Option(metavar="ID", help="The memory that it replaces.")] = "",
    file: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="It no longer holds when this file changes; repeatable.")
    ] = None,
    json: o.Json = False,
) -> None:
    """Remember what you say; later runs are told.

    Example: referee memory add "run the tests with make test" --topic tests
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.ending import say
    from referee.cli.output import document, put
    from referee.domain.admission import Said
    from referee.domain.memory import Confidence, MemoryLayer, Origin

    layer = MemoryLayer.PERSON if me else MemoryLayer.PROJECT
    said = Said(
        text=text, layer=layer, origin=Origin.PERSON, source="you", confidence=Confidence.HIGH,
        topic=topic, expires=expires, supersedes=supersedes,
    )  # fmt: skip
    admission, one = api.remember(said, repo, files=file or ())
    if one is None:
        say(f"memory {admission.same_as} says that already")
        one = api.memory(admission.same_as, repo)
    for other in admission.contradicts:
        say(f"memory {other} may say otherwise; `referee memory show {other}`, and forget the one that is wrong")
    if json:
        document(one)
    else:
        put(f"{one.memory.id}\n")


@memory.command("confirm")
def confirm(
    memory_id: Id,
    repo: o.Repo = ".",
    check: Annotated[
        str, typer.Option(metavar="COMMAND", help="Let this command decide: exit code 0 in the sandbox confirms.")
    ] = "",
    json: o.Json = False,
) -> None:
    """Vouch for a memory that was learned by a model or written by somebody; from now on it counts.

    Example: referee memory confirm run-the-tests-3fa2 --check "make test"
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put
    from referee.cli.signals import cancellable

    with cancellable():
        one = api.confirm(memory_id, repo, check=check)
    if json:
        document(one)
    else:
        put(_words(one))


@memory.command("forget")
def forget(memory_id: Id, repo: o.Repo = ".", json: o.Json = False) -> None:
    """Delete a memory.

    Example: referee memory forget run-the-tests-3fa2
    """
    o.settings(repo, {})
    from referee import api
    from referee.cli.output import document, put

    gone = api.forget(memory_id, repo)
    if json:
        document(gone)
    else:
        put(f"forgot {gone.id}\n")


@memory.command("export")
def export(repo: o.Repo = ".") -> None:
    """All memories with their states, as one JSON document.

    Example: referee memory export > memories.json
    """
    o.settings(repo, {})
    from json import dumps

    from referee import api
    from referee.cli.output import put

    found, problems = api.memories(repo)
    documents = [one.model_dump(mode="json") for one in found]
    put(dumps({"schema": "referee.memories/1", "memories": documents, "problems": problems}) + "\n")


def _words(one: Standing) -> str:
    from referee.render.plain import line, plain

    m, confirmed = one.memory, one.kept.confirmed
    rows = {
        "memory": m.id,
        "state": one.state.value + (f": {one.why}" if one.why else ""),
        "layer": m.layer.value,
        "from": f"{m.origin.value} {m.source}".rstrip() + f", {m.date}",
        "confirmed": f"by {confirmed}" if confirmed else f"by nobody; `referee memory confirm {m.id}` lets it count",
        "confidence": m.confidence.value,
        "topic": m.topic,
        "expires": m.expires,
        "replaces": m.supersedes,
        "depends on": ", ".join(m.files),
        "needed": m.when,
        "otherwise": m.cost,
    }
    head = "".join(f"{name + ':':<12} {line(value)}\n" for name, value in rows.items() if value)
    return f"{head}\n{plain(m.text)}\n"
