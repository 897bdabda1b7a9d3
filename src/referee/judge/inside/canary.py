"""Tests that must fail: whoever bends the outcome of tests bends these too, and is seen."""

# ruff: noqa: B905 - the project's Python may be older than zip(strict=)

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from .equality import embedded, written

_NAME, _FIRST = "test_referee", 1_000_003  # what stands for the name and for what is compared
TEXT = f"def {_NAME}():\n    value = {_FIRST}\n    assert value == {_FIRST + 1}\n"


def plant(items: list[Any], names: Sequence[str]) -> None:
    """Add one failing test per name, beside the first and the last module's own tests."""
    if not items:
        return
    for name, neighbour, at in zip(names, (items[0], items[-1]), (0, len(items) + 1)):
        parent = neighbour.getparent(pytest.Module) or neighbour.getparent(pytest.File) or neighbour.session
        made = Canary.from_parent(parent, name=name, callobj=_failing(name, str(neighbour.path)))
        items.insert(at, made)


class Canary(pytest.Function):
    """A test that must fail; nobody reads how."""

    def repr_failure(self, excinfo: Any, style: Any = None) -> str:
        """Spare the look at its source."""
        return "it failed, as it must"


def _failing(name: str, file: str) -> Any:
    number = int(name[-4:], 16)
    told = {_NAME: name, _FIRST: number, _FIRST + 1: number + 1}
    space: dict[str, Any] = {"__name__": "canary"}
    exec(embedded(_filled(written(TEXT, file), told, file)), space)  # noqa: S102 - our own text
    return space[name]


def _filled(code: types.CodeType, told: Mapping[Any, Any], file: str) -> types.CodeType:
    """The code with what is told in place of what stands for it."""
    consts = tuple(
        _filled(c, told, file) if isinstance(c, types.CodeType) else told.get(c, c) if type(c) in (int, str) else c
        for c in code.co_consts
    )
    names = {n: told.get(getattr(code, n), getattr(code, n)) for n in ("co_name", "co_qualname") if hasattr(code, n)}
    return code.replace(
        co_consts=consts, co_names=tuple(told.get(n, n) for n in code.co_names), co_filename=file, **names
    )
