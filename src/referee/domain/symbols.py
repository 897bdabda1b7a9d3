"""What a Python file defines and where names are used, from its text alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.domain.value import Value

_LONGEST = 160


class Symbol(Value):
    """One definition: its qualified name in the file, its kind and signature on one line, and the lines it takes."""

    name: str
    words: str
    line: int
    end: int
    depth: int = 0


def definitions(text: str) -> tuple[Symbol, ...]:
    """Classes, functions and named values in their order. Raises `ValueError` in words for what is no Python."""
    return tuple(_defined(_parsed(text).body, "", 0))


def uses(text: str, name: str) -> tuple[int, ...]:
    """The lines that say `name` as a name, an attribute or an import. Raises as `definitions` does."""
    found = {
        node.lineno
        for node in ast.walk(_parsed(text))
        if (isinstance(node, ast.Name) and node.id == name)
        or (isinstance(node, ast.Attribute) and node.attr == name)
        or (isinstance(node, ast.Import | ast.ImportFrom) and any(name in a.name.split(".") for a in node.names))
    }
    return tuple(sorted(found))


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as wrong:
        raise ValueError(f"line {wrong.lineno}: {wrong.msg}") from None
    except (ValueError, RecursionError, MemoryError) as wrong:
        raise ValueError(f"it cannot be parsed: {type(wrong).__name__}") from None


def _defined(body: list[ast.stmt], within: str, depth: int) -> Iterator[Symbol]:
    for node in body:
        place = {"line": node.lineno, "end": node.end_lineno or node.lineno, "depth": depth}
        if isinstance(node, ast.ClassDef):
            bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
            yield Symbol(name=within + node.name, words=_line(f"class {node.name}{bases}"), **place)
            yield from _defined(node.body, f"{within}{node.name}.", depth + 1)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
            gives = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            words = f"{kind} {node.name}({ast.unparse(node.args)}){gives}"
            yield Symbol(name=within + node.name, words=_line(words), **place)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield Symbol(name=within + target.id, words=_line(ast.unparse(node)), **place)
        elif isinstance(node, ast.If | ast.Try):  # what is defined for one version or the other
            yield from _defined([*node.body, *node.orelse], within, depth)


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
