"""Tests under other names and on other lines: who answers by its caller's name or place gets it wrong."""

from __future__ import annotations

import ast
import types

_LOOKS_AT_ITSELF = (b"inspect", b"lineno", b"getsource", b"currentframe", b"co_name")


class Disguise:
    """`name` is what every test function's code is called, `lines` how far down everything moves."""

    def __init__(self, name: str, lines: int) -> None:
        self._name, self._lines = name, lines

    def move(self, tree: ast.Module, source: bytes) -> None:
        """Move the lines of a module, unless its tests deal in lines themselves."""
        if not any(word in source for word in _LOOKS_AT_ITSELF):
            ast.increment_lineno(tree, self._lines)

    def rename(self, code: types.CodeType) -> types.CodeType:
        """The same code under another name, and what is within it."""
        consts = tuple(self.rename(c) if isinstance(c, types.CodeType) else c for c in code.co_consts)
        names = {}
        if code.co_name.startswith("test"):
            names = {"co_name": self._name}
            if hasattr(code, "co_qualname"):
                names["co_qualname"] = self._name
        return code.replace(co_consts=consts, **names)  # type: ignore[arg-type]
