"""referee: a deterministic shell around a stochastic model. The model plays; the referee decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Task", "fix"]

if TYPE_CHECKING:
    from referee.api import fix
    from referee.domain.task import Task


def __getattr__(name: str) -> Any:
    # Loaded on first use: importing the package does nothing, so that `referee --help` answers at once.
    if name == "fix":
        from referee.api import fix

        return fix
    if name == "Task":
        from referee.domain.task import Task

        return Task
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
