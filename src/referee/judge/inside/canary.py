"""Tests that must fail: whoever bends the outcome of tests bends these too, and is seen."""

# ruff: noqa: B905 - the project's Python may be older than zip(strict=)

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import pytest
from _pytest.assertion import rewrite

from .equality import embedded


def plant(items: list[Any], names: Sequence[str]) -> None:
    """Add one failing test per name, beside the first and the last module's own tests."""
    if not items:
        return
    for name, neighbour, at in zip(names, (items[0], items[-1]), (0, len(items) + 1)):
        parent = neighbour.getparent(pytest.Module) or neighbour.getparent(pytest.File) or neighbour.session
        made = pytest.Function.from_parent(parent, name=name, callobj=_failing(name, str(neighbour.path)))
        items.insert(at, made)


def _failing(name: str, file: str) -> Any:
    number = int(name[-4:], 16)
    source = f"def {name}():\n    value = {number}\n    assert value == {number + 1}\n"
    tree = ast.parse(source)
    rewrite.rewrite_asserts(tree, source.encode("ascii"), file)
    space: dict[str, Any] = {"__name__": "canary"}
    exec(embedded(compile(tree, file, "exec")), space)  # noqa: S102 - our own text
    return space[name]
