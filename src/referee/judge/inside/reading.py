"""Which files the tests themselves read: what they expect may be written there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from .channel import Emit
from .territory import Territory

_MOST = 50_000
_CODE = (".py", ".pyc", ".pyi", ".so")


def reading(emit: Emit, whose: Territory) -> Callable[[Any], None]:
    """A function that is shown every opening of a file, and tells of those that a test asked for."""
    inside, test, suspect, relative = whose.inside, whose.test, whose.suspect, whose.relative
    seen: set[str] = set()

    def asked_by_test() -> bool:
        frame: Any = sys._getframe(3)
        while frame is not None:
            file = frame.f_code.co_filename
            if test(file):
                return True
            if suspect(file):
                return False
            frame = frame.f_back
        return False

    def note(args: Any) -> None:
        name, mode, flags = args
        if not isinstance(name, (str, bytes)) or len(seen) >= _MOST:
            return
        if (isinstance(mode, str) and set(mode) & set("wax+")) or (mode is None and flags & os.O_ACCMODE):
            return
        path = os.path.abspath(os.fsdecode(name))
        if path in seen or not inside(path) or test(path) or path.endswith(_CODE) or not asked_by_test():
            return
        seen.add(path)
        emit("read", relative(path))

    return note
