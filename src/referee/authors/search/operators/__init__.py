"""All operators, and those that apply to a kind of node."""

from __future__ import annotations

import ast
from functools import cache

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
from referee.authors.search.operators.operator import Family, Operator, operator
from referee.domain.errors import UsageError
from referee.plugins import plugins

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

__all__ = ["OPERATORS", "Family", "Operator", "applicable", "every", "operator"]


@cache
def every() -> tuple[Operator, ...]:
    """Ours, then those of plugins in the order of their names. Raises `UsageError` for one that is no operator."""
    added = [(plugin, plugin.load()) for _, plugin in sorted(plugins("operators").items())]
    for plugin, each in added:
        if not isinstance(each, Operator) or each.name in {o.name for o in OPERATORS}:
            raise UsageError(f"{plugin.package}: {plugin.point.value} is no new operator; make one with @operator(...)")
    return (*OPERATORS, *(each for _, each in added))


@cache
def _by_kind() -> dict[type[ast.AST], tuple[Operator, ...]]:
    kinds = dict.fromkeys(kind for o in every() for kind in o.kinds)
    return {kind: tuple(o for o in every() if kind in o.kinds) for kind in kinds}


def applicable(kind: type[ast.AST]) -> tuple[Operator, ...]:
    """The operators for a kind of node."""
    return _by_kind().get(kind, ())
