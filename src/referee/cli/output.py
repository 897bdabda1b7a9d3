"""Results on standard output: text for people, or one JSON document and nothing else."""

from __future__ import annotations

import os
import sys
from json import dumps

from pydantic import BaseModel

from referee.cli.place import repository
from referee.config import root_of
from referee.domain.report import Outcome
from referee.render.plain import plain
from referee.render.text import text

_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}


def put(words: str) -> None:
    """Write to stdout. A reader that went away (`referee show … | head`) is no error."""
    put_bytes(words.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))


def put_bytes(data: bytes) -> None:
    """Write to stdout as it is."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Whatever is still written, also at exit, goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def document(value: BaseModel) -> None:
    """One JSON document on one line."""
    put(value.model_dump_json() + "\n")


def result(outcome: Outcome, *, as_json: bool, whole: bool = False) -> None:
    """What a run came to: the report as JSON, with the diff if `whole`; or its text and the diff."""
    if as_json and whole:
        put(dumps({**outcome.report.model_dump(mode="json"), "diff": outcome.diff}) + "\n")
        return
    if as_json:
        document(outcome.report)
        return
    put(text(outcome.report))
    if outcome.diff:
        put("\n" + shown(outcome.diff))


def wants_patch(outcome: Outcome) -> bool:
    """Whether standard output is for the patch alone."""
    return any(setting.key == "land" and setting.value == "patch:-" for setting in outcome.report.config)


def kept_patch(run_id: str) -> bytes:
    """The exact bytes of a run's patch, as kept with its report."""
    with open(os.path.join(root_of(repository.get()), ".harness", "reports", f"{run_id}.patch"), "rb") as file:
        return file.read()


def shown(diff: str) -> str:
    """A diff as it is for a pipe; neutralised, and coloured unless NO_COLOR is set, for a terminal."""
    if not sys.stdout.isatty():
        return diff
    rows = plain(diff).split("\n")
    if not _colours_wanted():
        return "\n".join(rows)
    return "\n".join(f"{_COLOURS[r[0]]}{r}\x1b[0m" if r[:1] in _COLOURS else r for r in rows)


def _colours_wanted() -> bool:
    from referee.cli.progress import console

    return not console().no_color
