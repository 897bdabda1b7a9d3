"""A workflow: a person's Python file that says which steps are done, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.domain.value import Value


class Workflow(Value):
    """The file as it was when the run began, so that a resume runs the same; `arguments` are handed to it."""

    path: str
    text: str
    arguments: Mapping[str, Any] = {}


class Step(Value):
    """What a step came to, in words; `ok` unless it failed or was denied."""

    text: str
    ok: bool
