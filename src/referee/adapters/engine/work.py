"""A piece of work in the queue, and what the queue is called in the database."""

from __future__ import annotations

from typing import Any, Literal

from referee.domain.errors import UsageError
from referee.domain.value import Value

QUEUE = "referee"
APPLICATION = "referee"
# Workers take only work of their own protocol. Left to the engine, every new release would strand what is queued.
PROTOCOL = "referee-1"
WORKFLOW = "segment"


class Work(Value):
    """`what` is a run's id, or another thing's that `kind` tells; `place` is where it is done.

    The lower `priority`, the sooner. `tries` counts how often the machine failed it.
    """

    kind: Literal["run", "trials"] = "run"
    what: str
    place: str
    priority: int = 100
    tries: int = 0
    more: str = ""


class Said(Value):
    """How a piece of work ended this time."""

    how: Literal["done", "waiting", "stopped", "refused", "busy", "fault"]
    words: str = ""


class Standing(Value):
    """One entry of the queue: `open` while it waits or is worked on."""

    id: str
    open: bool
    working: bool = False
    said: Said | None = None


def library() -> Any:
    """DBOS. Raises `UsageError` if it is not installed."""
    try:
        import dbos
    except ImportError:
        raise UsageError("the engine needs an extra: pip install 'referee[dbos]'") from None
    return dbos
