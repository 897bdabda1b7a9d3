"""All operators, and those that apply to a kind of node."""

from __future__ import annotations

import ast

from referee.authors.search.operators import (
    additions,
    arithmetic,
    calls,
    comparisons,
    conditions,
    constants,
    exceptions,
    names,
    offsets,
    recursion,
    returns,
    slices,
    statements,
)
from referee.authors.search.operators.operator import Family, Operator

OPERATORS: tuple[Operator, ...] = (
    *comparisons.OPERATORS,
    *arithmetic.OPERATORS,
    *constants.OPERATORS,
    *offsets.OPERATORS,
    *conditions.OPERATORS,
    *names.OPERATORS,
    *calls.OPERATORS,
    *slices.OPERATORS,
    *statements.OPERATORS,
    *additions.OPERATORS,
    *returns.OPERATORS,
    *exceptions.OPERATORS,
    *recursion.OPERATORS,
)

__all__ = ["OPERATORS", "Family", "Operator", "applicable"]


def _by_kind() -> dict[type[ast.AST], tuple[Operator, ...]]:
    kinds = dict.fromkeys(kind for o in OPERATORS for kind in o.kinds)
    return {kind: tuple(o for o in OPERATORS if kind in o.kinds) for kind in kinds}


_APPLICABLE = _by_kind()


def applicable(kind: type[ast.AST]) -> tuple[Operator, ...]:
    """The operators for a kind of node."""
    return _APPLICABLE.get(kind, ())
