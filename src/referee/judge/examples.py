"""Tests that live in the code itself: doctests, and test functions of files that no rule protects."""

from __future__ import annotations

import ast
import doctest
from collections import Counter
from collections.abc import Iterator

from referee.domain.finding import Finding, FindingKind
from referee.domain.patch import FileChange


def altered(check: str, change: FileChange, before: bytes | None) -> tuple[Finding, ...]:
    """A finding if `change` takes away or rewrites what the tests in its file demand."""
    if before is None:
        return ()
    after = b"" if change.after is None else change.after.data
    lost = Counter(_demands(change.path, before)) - Counter(_demands(change.path, after))
    if not lost:
        return ()
    return (
        Finding(
            kind=FindingKind.UNAUTHORISED, check=check, id=change.path, path=change.path, rule="tests within",
            message=f"{change.path} holds tests of its own, and they are not the author's to change: keep "
            f"{min(lost)!r} as it is",
        ),
    )  # fmt: skip


def _demands(path: str, source: bytes) -> Iterator[str]:
    text = source.decode("utf-8", "replace")
    if not path.endswith(".py"):
        yield from _examples(text)
        return
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented):
            yield from _examples(ast.get_docstring(node) or "")
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            yield ast.unparse(node)


def _examples(text: str) -> Iterator[str]:
    try:
        found = doctest.DocTestParser().get_examples(text)
    except ValueError:
        yield text
        return
    yield from (f">>> {e.source}{e.want}" for e in found)
