"""`referee sandbox`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.ports import Contact, Execution


def sandbox(  # noqa: PLR0913 - one parameter per option is how typer reads them
    command: Annotated[list[str], typer.Argument(metavar="-- CMD…", help="The command and its arguments.")],
    repo: o.Repo = ".",
    timeout: o.Timeout = None,
    require_isolation: o.RequireIsolation = False,
    allow_degraded: o.AllowDegraded = False,
    allow_domain: o.AllowDomain = None,
    json: o.Json = False,
) -> None:
    """Run one command on a throw-away copy of the repository: no network, no credentials, nothing of the host writable.

    With --allow-domain it reaches those hosts, and no others. Its exit code is the command's; a command killed by a
    limit exits 137, by a signal 128 + its number.

    Example: referee sandbox -- python -m pytest -q
    """
    flags = {"budget.timeout": timeout, "sandbox.allow_domains": tuple(allow_domain or ()) or None}
    flags |= o.isolation_flag(require_isolation, allow_degraded)
    config = o.settings(repo, flags)
    from referee import api
    from referee.cli.ending import say
    from referee.cli.output import put
    from referee.cli.signals import cancellable

    for note in config.notes:
        say(note)
    with cancellable():
        ended = api.sandbox(tuple(command), repo, config, _note, None if json else _pass_on)
    if json:
        put(_json(ended) + "\n")
    else:
        _complain(ended)
    raise typer.Exit(_exit_code(ended))


def _json(ended: Execution) -> str:
    """The execution with its output as text: what is not UTF-8 is written out like `\\xff`."""
    from json import dumps

    found = ended.model_dump(mode="json", exclude={"channel", "key", "stdout", "stderr"})
    texts = {name: getattr(ended, name).decode("utf-8", "backslashreplace") for name in ("stdout", "stderr")}
    return dumps(found | texts)


def _note(event: str, facts: Mapping[str, Any]) -> None:
    """Say what a person should know before the command starts."""
    from referee.cli.ending import say

    if event == "note":
        say(str(facts.get("text", "")))


def _pass_on(stream: str, data: bytes) -> None:
    """Write what the command writes, as it comes."""
    from referee.cli.output import put_bytes

    if stream == "stdout":
        put_bytes(data)
    else:
        sys.stderr.flush()
        sys.stderr.buffer.write(data)
        sys.stderr.buffer.flush()


def _complain(ended: Execution) -> None:
    from referee.cli.ending import say

    for contact in ended.contacts:
        say(f"the command {contact.words}{_counts(contact)}")
    if ended.killed_by:
        say(f"the command was killed: {ended.killed_by}")


def _counts(contact: Contact) -> str:
    times = f", {contact.times} times" if contact.times > 1 else ""
    connected = not contact.refused or contact.sent or contact.received
    return times + (f" ({contact.sent} bytes out, {contact.received} in)" if connected else "")


def _exit_code(ended: Execution) -> int:
    import signal

    if ended.exit_code is not None:
        return ended.exit_code
    name = (ended.killed_by or "").removeprefix("signal:")
    return 128 + signal.Signals[name] if name in signal.Signals.__members__ else 137
