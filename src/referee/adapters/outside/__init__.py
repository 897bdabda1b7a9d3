"""Requests to other systems: the registry of the tools that exist."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from referee.adapters.outside.http import HttpTool
from referee.adapters.outside.mail import MailTool
from referee.adapters.outside.sql import SqlTool
from referee.domain.errors import UsageError
from referee.ports import OutsideTool

__all__ = ["TOOLS", "registry"]

Secret = Callable[[str], str | None]
TOOLS: Mapping[str, Callable[[Secret], OutsideTool]] = {"http": HttpTool, "mail": MailTool, "sql": SqlTool}


def registry(names: Collection[str], secret: Secret) -> Callable[[str], OutsideTool]:
    """Finds the tools of these names and no others; `secret` looks up the value of a variable when it is needed."""

    def find(name: str) -> OutsideTool:
        if name not in TOOLS or name not in names:
            known = ", ".join(n for n in TOOLS if n in names) or "none"
            raise UsageError(f"there is no outside tool {name!r}; registered are: {known} (outside.tools)")
        return TOOLS[name](secret)

    return find
