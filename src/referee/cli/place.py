"""Which repository the running command is about, for those who must find its record when something breaks."""

from __future__ import annotations

from contextvars import ContextVar

repository: ContextVar[str] = ContextVar("repository", default=".")
