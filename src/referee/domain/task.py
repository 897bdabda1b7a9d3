"""A task: what is wrong, where, and how anybody can tell that it is mended."""

from __future__ import annotations

from referee.domain.value import Value


class Task(Value):
    """One repair. `targets` are test ids (or check commands) that fail now and must pass afterwards."""

    repo: str = "."
    text: str = ""
    targets: tuple[str, ...] = ()
