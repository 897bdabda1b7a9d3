"""Which lines of the code under test ran for which test."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

_TOOL = 3  # a tool number of sys.monitoring that nothing well known uses


class Lines:
    """Collects (file, line) pairs; `take` hands over what ran since the last call."""

    def __init__(self, root: str, wanted: Callable[[str], bool]) -> None:
        self._root, self._wanted = root, wanted
        self._files: dict[str, set[int] | None] = {}

    def start(self) -> None:
        """Begin, with the cheapest means this interpreter has."""
        monitoring: Any = getattr(sys, "monitoring", None)
        if monitoring is None or monitoring.get_tool(_TOOL) is not None:
            threading.settrace(self._call)
            sys.settrace(self._call)
            return
        monitoring.use_tool_id(_TOOL, "referee")
        monitoring.register_callback(_TOOL, monitoring.events.LINE, self._line_event)
        monitoring.set_events(_TOOL, monitoring.events.LINE)

    def take(self) -> dict[str, list[int]]:
        """Lines by path relative to the root, since the last `take`."""
        taken = {os.path.relpath(f, self._root): sorted(seen) for f, seen in self._files.items() if seen}
        for seen in self._files.values():
            if seen:
                seen.clear()
        if hasattr(sys, "monitoring"):
            sys.monitoring.restart_events()
        elif sys.gettrace() is None:
            sys.settrace(self._call)
        return taken

    def _of(self, file: str) -> set[int] | None:
        try:
            return self._files[file]
        except KeyError:
            seen: set[int] | None = set() if self._wanted(file) else None
            self._files[file] = seen
            return seen

    def _line_event(self, code: Any, line: int) -> Any:
        seen = self._of(code.co_filename)
        if seen is not None:
            seen.add(line)
        return sys.monitoring.DISABLE  # type: ignore[attr-defined]

    def _call(self, frame: Any, event: str, argument: Any) -> Any:
        seen = self._of(frame.f_code.co_filename)
        if seen is None:
            return None

        def local(frame: Any, event: str, argument: Any) -> Any:
            if event == "line":
                seen.add(frame.f_lineno)
            return local

        return local
