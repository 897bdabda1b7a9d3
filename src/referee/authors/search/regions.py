"""A file cut into the pieces that are searched one by one: outermost functions, and statements outside them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType

from referee.authors.search.source import Source, compiled

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HEADER = "if 1:\n"  # lets indented code be compiled without its surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Whole lines that can be compiled on their own. `name` is the qualified name of the function or class."""

    source: Source
    node: ast.stmt
    name: str
    start: int
    end: int
    first_line: int
    last_line: int

    @property
    def text(self) -> str:
        """The region's lines."""
        return self.source.text[self.start : self.end]

    def meaning(self, text: str) -> object | None:
        """A key equal for texts that compile to the same instructions; None if `text` does not compile."""
        indented = text[:1] in (" ", "\t", "\f")
        code = compiled(_HEADER + text if indented else text)
        return None if code is None else _key(code)


def regions(source: Source) -> Iterator[Region]:
    """Every region of a file, in order. Imports and docstrings are left out."""
    yield from _regions(source, source.tree.body, "")


def _regions(source: Source, body: Iterable[ast.stmt], prefix: str) -> Iterator[Region]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _regions(source, node.body, f"{prefix}{node.name}.")
        elif isinstance(node, FUNCTIONS):
            yield _region(source, node, prefix + node.name)
        elif isinstance(node, ast.If | ast.Try | ast.With) and any(map(_defines, ast.walk(node))):
            yield from _regions(source, _inner(node), prefix)
        elif not isinstance(node, ast.Import | ast.ImportFrom) and not documents(node):
            yield _region(source, node, prefix.rstrip("."))


def _region(source: Source, node: ast.stmt, name: str) -> Region:
    start, end = source.lines_of(node)
    first = source.line_at(start)
    return Region(
        source=source,
        node=node,
        name=name,
        start=start,
        end=end,
        first_line=first,
        last_line=node.end_lineno or first,
    )


def _defines(node: ast.AST) -> bool:
    return isinstance(node, (*FUNCTIONS, ast.ClassDef))


def _inner(node: ast.stmt) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler):
            yield from child.body


def documents(node: ast.AST) -> bool:
    """Whether a statement is a docstring or another lone string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _key(code: object) -> object:
    """Instructions, constants and names, without positions; equal keys run alike."""
    if not isinstance(code, CodeType):
        # 1, 1.0 and True are equal, and so are 0.0 and -0.0.
        return (type(code).__name__, repr(code))
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    shape = (code.co_flags, code.co_argcount, code.co_kwonlyargcount, code.co_exceptiontable)
    return (code.co_code, tuple(_key(c) for c in code.co_consts), names, shape)
