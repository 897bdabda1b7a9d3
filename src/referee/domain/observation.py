"""What a tool call came to: the text that the model reads, and what changed by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from referee.domain.finding import Finding
from referee.domain.value import Value

INSTEAD = "Do not try it another way; if the task needs it, say so in your final answer."


class Seen(Value):
    """What a model has read of a file: the version, all lines up to `upto`, and whether that was all of it."""

    path: str
    version: str
    upto: int = 0
    whole: bool = False


class Todo(Value):
    """One line of a plan."""

    text: str
    state: Literal["open", "doing", "done"] = "open"


class Note(Value):
    """What must outlive folding: a decision, an attempt with its outcome, or a fact."""

    text: str
    kind: Literal["decision", "attempt", "fact"] = "fact"


class Presented(Value):
    """What an agent shows a person: a title, files as they were then, and a table."""

    title: str
    files: tuple[tuple[str, str], ...] = ()
    """Paths, each with the beginning of its text."""
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class Observation(Value):
    """The outcome of one call.

    `asked` is a question that nobody waits for, by its key, `skill` one that was loaded, `presented` what was shown.
    `granted` is a tool that may be called once, `job` a background job that was started, `ordinal` the last request to
    a model of those to whom the call handed work.
    `tree` is the workspace's new tree if the call changed it, `scratch` the blob of a patch of what git ignores, `kept`
    the blob of the whole output if the text is only a part of it. `todo` replaces the plan, None leaves it. A `denied`
    call was refused by a rule, an `invalid` one had no such tool or wrong arguments, a `failed` one was tried.
    """

    text: str
    outcome: Literal["done", "failed", "denied", "invalid"] = "done"
    tree: str = ""
    scratch: str = ""
    kept: str = ""
    seen: tuple[Seen, ...] = ()
    todo: tuple[Todo, ...] | None = None
    note: Note | None = None
    granted: str = ""
    asked: str = ""
    skill: str = ""
    presented: Presented | None = None
    job: str = ""
    ordinal: int = 0


def failed(text: str) -> Observation:
    """It was tried and did not work."""
    return Observation(text=text, outcome="failed")


def denied(findings: Sequence[Finding], instead: str = INSTEAD) -> Observation:
    """What was refused, by which rule, and what is allowed."""
    said = "; ".join(f.message for f in findings)
    rules = ", ".join(dict.fromkeys(f.rule or f.check for f in findings))
    return Observation(text=f"denied by the rule {rules}: {said}. {instead}", outcome="denied")
