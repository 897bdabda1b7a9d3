"""Annotations and defaults exactly as written: griffe keeps what they mean, this keeps the text."""

from __future__ import annotations

import ast
from typing import Any

import griffe

KEY = "referee"


class AsWritten(griffe.Extension):
    """Remembers with each object the text of its annotations, defaults, bases, decorators and value."""

    def __init__(self) -> None:
        self._path, self._lines = "", list[bytes]()

    def on_function_instance(self, *, node: Any, func: griffe.Function, agent: Any, **_: Any) -> None:
        """Parameters by name, what is returned, decorators."""
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        cut = self._cutter(agent)
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
        pairs = [
            *zip(positional, defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        pairs += [(a, None) for a in (arguments.vararg, arguments.kwarg) if a is not None]
        func.extra[KEY] = {
            "parameters": {a.arg: (cut(a.annotation), cut(default)) for a, default in pairs},
            "returns": cut(node.returns),
            "decorators": tuple(cut(d) for d in node.decorator_list),
            "line": node.lineno,
        }

    def on_class_instance(self, *, node: Any, cls: griffe.Class, agent: Any, **_: Any) -> None:
        """Bases and decorators."""
        if isinstance(node, ast.ClassDef):
            cut = self._cutter(agent)
            bases = [*(cut(b) for b in node.bases), *(f"{k.arg or '**'}={cut(k.value)}" for k in node.keywords)]
            decorators = tuple(cut(d) for d in node.decorator_list)
            cls.extra[KEY] = {"bases": tuple(bases), "decorators": decorators, "line": node.lineno}

    def on_attribute_instance(self, *, node: Any, attr: griffe.Attribute, agent: Any, **_: Any) -> None:
        """Annotation and value; of a property what it returns and its decorators."""
        cut = self._cutter(agent)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = tuple(cut(d) for d in node.decorator_list)
            attr.extra[KEY] = {"annotation": cut(node.returns), "decorators": decorators, "line": node.lineno}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            annotation = cut(node.annotation) if isinstance(node, ast.AnnAssign) else None
            attr.extra[KEY] = {"annotation": annotation, "value": cut(node.value), "line": node.lineno}

    def _cutter(self, agent: Any) -> Any:
        """What cuts the text of a node out of the file that `agent` reads."""
        if self._path != str(agent.filepath):
            self._path, self._lines = (
                str(agent.filepath),
                agent.code.encode("utf-8", "replace").splitlines(keepends=True),
            )
        return self._cut

    def _cut(self, node: ast.expr | None) -> str | None:
        if node is None:
            return None
        assert node.end_lineno is not None and node.end_col_offset is not None  # parsed, not made
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"".join(lines).decode("utf-8", "replace")
