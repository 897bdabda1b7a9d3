"""The map of which test reaches which code: `referee.map/1`. Additive changes only."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.domain.report import Document, IsolationStamp


class MapReport(Document):
    """A map that is up to date. `recorded` of its `tests` were run for it; `always` are chosen for any change.

    `functions` and `files` count what the tests reach; `duration_ms` is how long they were watched.
    """

    schema_name: Literal["referee.map/1"] = Field(default="referee.map/1", alias="schema")
    tests: int
    recorded: int
    always: int
    functions: int
    files: int
    duration_ms: int
    isolation: IsolationStamp | None = None
