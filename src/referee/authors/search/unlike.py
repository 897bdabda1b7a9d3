"""Whether two edits that both pass mean the same, and for which values not: what no test has asked yet."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from referee.authors.search.source import parse
from referee.authors.search.supposed import Supposed

_CHOICES = 400
_SMALL: tuple[Any, ...] = (0, 1, 2, 3, -1)
_MOST_VALUES, _MOST_SHOWN = 24, 3


@dataclass(frozen=True, slots=True)
class Unlike:
    """The two do not mean the same. `where` says for which values, in words; empty if that cannot be said."""

    where: str = ""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two expressions in the same place; `truth` if only their truth matters there."""

    one: ast.expr
    other: ast.expr
    truth: bool


def unlike(one: str, other: str) -> Unlike | None:
    """How two versions of a file differ in meaning; None if nothing says that they do.

    Expressions are compared for a few hundred choices of what their names could be worth; versions with other
    statements are taken to differ. What no input of the program can bring about is not known here.
    """
    trees = parse(one.removeprefix("\ufeff")), parse(other.removeprefix("\ufeff"))
    if trees[0] is None or trees[1] is None:
        return Unlike()
    try:
        pairs = list(_pairs(trees[0], trees[1]))
        found = [w for p in pairs if p is not None and (w := _told_apart(p)) is not None]
    except RecursionError:
        return Unlike()
    if found:
        return max(found, key=lambda u: bool(u.where))
    return Unlike() if None in pairs else None


def _pairs(one: Any, other: Any) -> Iterator[_Pair | None]:
    """The expressions in which two trees differ; None where they differ in anything else."""
    if type(one) is not type(other):
        yield None
        return
    if isinstance(one, ast.AugAssign) and type(one.op) is not type(other.op):
        yield _Pair(_sum(one), _sum(other), False)
        return
    for name in one._fields:
        a, b = getattr(one, name, None), getattr(other, name, None)
        if isinstance(a, ast.expr) and isinstance(b, ast.expr):
            if ast.dump(a) != ast.dump(b):
                yield None if name in ("target", "targets") else _Pair(a, b, name == "test")
        elif isinstance(a, ast.AST) and isinstance(b, ast.AST):
            yield from _pairs(a, b)
        elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
            for x, y in zip(a, b, strict=True):
                if isinstance(x, ast.expr) or not isinstance(x, ast.AST):
                    if _text(x) != _text(y):
                        yield None
                else:
                    yield from _pairs(x, y)
        elif a != b:
            yield None


def _text(value: Any) -> str:
    return ast.dump(value) if isinstance(value, ast.AST) else repr(value)


def _sum(node: ast.AugAssign) -> ast.expr:
    target = parse(ast.unparse(node.target))
    assert target is not None and isinstance(target.body[0], ast.Expr)
    return ast.BinOp(target.body[0].value, node.op, node.value)


def _told_apart(pair: _Pair) -> Unlike | None:
    values = _values(pair)
    differ = False
    for number in range(_CHOICES):
        first, second = Supposed(values, number), Supposed(values, number)
        if first.outcome(pair.one, pair.truth) != second.outcome(pair.other, pair.truth):
            differ = True
            # Calls that only one of them makes could be worth the same after all.
            shared = first.drawn.keys() & second.drawn.keys()
            if first.drawn.keys() == second.drawn.keys() == shared and len(shared) <= _MOST_SHOWN:
                return Unlike(" and ".join(f"{name} is {value!r}" for name, value in first.drawn.items()))
    return Unlike() if differ else None


def _values(pair: _Pair) -> tuple[Any, ...]:
    """Small numbers, and the constants of both with their neighbours."""
    found: dict[str, Any] = {repr(v): v for v in _SMALL}
    for node in (*ast.walk(pair.one), *ast.walk(pair.other)):
        value = node.value if isinstance(node, ast.Constant) else ...
        near = (value, value - 1, value + 1) if type(value) in (int, float) else (value,)
        if value is not ... and not isinstance(value, bytes | complex):
            found |= {repr(v): v for v in near}
    return tuple(found.values())[:_MOST_VALUES]
