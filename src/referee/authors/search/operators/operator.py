"""What an operator is: a named way of changing one kind of node, with a prior."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from referee.authors.search.site import Site, Suggestion

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Raise, ast.Delete, ast.Assert)
JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try)

Suggest = Callable[[Site], Iterator[Suggestion]]


class Family(StrEnum):
    """What an operator is about; the kind of failure makes some families likelier."""

    COMPARISON = "comparison"
    ARITHMETIC = "arithmetic"
    CONSTANT = "constant"
    OFFSET = "offset"
    CONDITION = "condition"
    NAME = "name"
    CALL = "call"
    SLICE = "slice"
    STATEMENT = "statement"
    RETURN = "return"
    GUARD = "guard"
    EXCEPTION = "exception"
    STRING = "string"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """`prior` (0 to 1) says how often this is the repair, compared with the other operators."""

    name: str
    family: Family
    prior: float
    kinds: tuple[type[ast.AST], ...]
    suggest: Suggest


def operator(family: Family, prior: float, *kinds: type[ast.AST]) -> Callable[[Suggest], Operator]:
    """Make an operator of a function; it takes the function's name."""

    def made(suggest: Suggest) -> Operator:
        return Operator(name=suggest.__name__, family=family, prior=prior, kinds=kinds, suggest=suggest)

    return made
