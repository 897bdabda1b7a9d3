"""Names that tests rely on and code under test could rebind: built-in functions, and those of the test modules."""

from __future__ import annotations

import builtins
import math
import operator
import sys
import types
import unittest
from collections.abc import Iterator, Mapping
from operator import is_not
from typing import Any

from .territory import Territory

_SHARED: tuple[Any, ...] = (builtins, math, operator, unittest.TestCase)
_FIXED = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)


class Spaces:
    """What the names meant before the first test ran. Fixtures of a test may bend them, and have undone it after."""

    def __init__(self, whose: Territory) -> None:
        self._whose = whose
        self._known: dict[str, tuple[Mapping[str, Any], dict[str, Any]]] = {}
        for owner in _SHARED:
            # A class hands out a view of its names, a module the names themselves: both stay current.
            self._known[owner.__name__] = (vars(owner), _fixed(vars(owner)))

    def learn(self) -> None:
        """Take the test modules as they are once they are collected."""
        for module in list(sys.modules.values()):
            space = getattr(module, "__dict__", {})
            file = space.get("__file__")
            if isinstance(file, str) and self._whose.test(file):
                self._known[self._whose.relative(file)] = (space, _fixed(space))

    def bent(self, module: str | None) -> Iterator[str]:
        """Names that mean something else now: the shared ones and those of one module, or (None) all."""
        shared = [owner.__name__ for owner in _SHARED]
        for name in self._known if module is None else [*shared, module]:
            if name not in self._known:
                continue
            now, before = self._known[name]
            if any(map(is_not, map(now.get, before), before.values())):  # nearly never
                yield from (f"{name}:{key}" for key, was in before.items() if now.get(key, was) is not was)
            if name not in shared:
                yield from (f"{name}:{key}" for key in now if key not in before and hasattr(builtins, key))


def _fixed(space: Mapping[str, Any]) -> dict[str, Any]:
    own = (n for n in space if n.startswith("@") or isinstance(space[n], _FIXED) or hasattr(builtins, n))
    return {name: space[name] for name in own}
