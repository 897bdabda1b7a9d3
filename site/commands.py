"""The page of commands, from the program's own parser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from referee.cli.app import app
from referee.render.markdown import cell, fence

EXAMPLE = "Example: "
EXITS = (
    ("0", "solved, passed, done"),
    ("1", "not solved, or something failed; the report says why"),
    ("2", "wrong use or configuration; the message says what to type"),
    ("4", "waits for a person: `referee questions`"),
    ("69", "the machine is at fault: no git, no sandbox, a full disk, an index out of reach"),
    ("70", "a bug of referee's"),
    ("130", "interrupted, or a person said no"),
)


def page() -> str:
    """Every command with its arguments and options."""
    rows = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXITS)
    head = f"# Commands\n\nMade from the program itself.\n\n| exit code | means |\n|---|---|\n{rows}"
    return "\n\n".join([head, *(part for name, command in found() for part in _command(name, command))]) + "\n"


def found() -> Iterator[tuple[str, Any]]:
    """Each command that does something, by its whole name."""
    yield from _below("referee", get_command(app))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for word, sub in inner.items():
        yield from _below(f"{name} {word}", sub)


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    yield f"## `{name}`"
    words = " ".join(_usage(a) for a in arguments)
    yield fence(f"{name} {'[OPTIONS] ' if options else ''}{words}".rstrip(), "text")
    for paragraph in (command.help or "").split("\n\n"):
        text = " ".join(paragraph.split())
        yield fence(text.removeprefix(EXAMPLE), "sh") if text.startswith(EXAMPLE) else cell(text)
    rows = [_row(p) for p in (*arguments, *options)]
    if rows:
        yield "| | | default |\n|---|---|---|\n" + "\n".join(rows)


def _usage(argument: Any) -> str:
    words = argument.metavar or argument.name.upper()
    more = "..." if argument.nargs == -1 or argument.multiple else ""
    return f"{words}{more}" if argument.required else f"[{words}]{more}"


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = f"`{parameter.metavar or parameter.name.upper()}`"
    else:
        words = [*parameter.opts, *parameter.secondary_opts]
        name = ", ".join(f"`{w}`" for w in words) + (f" `{_bar(parameter.metavar)}`" if parameter.metavar else "")
    return f"| {name} | {cell(parameter.help or '')} | {cell(_default(parameter))} |"


def _bar(text: str) -> str:
    return text.replace("|", "\\|")


def _default(parameter: Any) -> str:
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    value = parameter.default
    return "" if parameter.show_default is False or value in (None, False, "", [], ()) else str(value)
