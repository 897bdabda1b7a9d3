"""Whether two edits that both pass mean the same, and for which values not: what no test has asked yet."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from referee.authors.search.source import parse
from referee.authors.search.supposed import Supposed

_CHOICES = 200
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


def between(one: Mapping[str, str], other: Mapping[str, str]) -> Unlike | None:
    """How two edits differ in meaning, given the files they change as each leaves them."""
    if one.keys() != other.keys():
        return Unlike()
    found = [u for path in one if (u := unlike(one[path], other[path])) is not None]
    return max(found, key=lambda u: bool(u.where), default=None)


def unlike(one: str, other: str) -> Unlike | None:
    """How two versions of a file differ in meaning; None if nothing says that they do.

    Expressions are compared for some hundred choices of what their names could be worth; versions with other
    statements are taken to differ. What no input of the program can bring about is not known here.
    """
    trees = parse(one.removeprefix("\ufeff")), parse(other.removeprefix("\ufeff"))
    if trees[0] is None or trees[1] is None:
        return Unlike()
    try:
        pairs = list(_pairs(trees[0], trees[1]))
        found = [w for p in pairs if p is not None and (w := _told_apart(p)) is not None]
    except (RecursionError, ValueError):  # too deep, or a number too long to write
        return Unlike()
    if found:
        return max(found, key=lambda u: bool(u.where))
    return Unlike() if None in pairs else None


def _pairs(one: Any, other: Any) -> Iterator[_Pair | None]:
    """The expressions in which two trees differ; None where they differ in anything else."""
    if type(one) is not type(other):
        yield None
    elif isinstance(one, ast.AugAssign) and type(one.op) is not type(other.op):
        yield _Pair(_sum(one), _sum(other), False)
    else:
        for name in one._fields:
            yield from _fields(name, getattr(one, name, None), getattr(other, name, None))


def _fields(name: str, one: Any, other: Any) -> Iterator[_Pair | None]:
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield None
            return
        for a, b in zip(one, other, strict=True):
            yield from _fields("targets" if isinstance(a, ast.expr) else name, a, b)
    elif isinstance(one, ast.expr) and isinstance(other, ast.expr):
        if ast.dump(one) != ast.dump(other):
            yield None if name in ("target", "targets") else _Pair(one, other, name == "test")
    elif isinstance(one, ast.AST):
        yield from _pairs(one, other)
    elif one != other:
        yield None


def _sum(node: ast.AugAssign) -> ast.expr:
    target = parse(ast.unparse(node.target))
    assert target is not None and isinstance(target.body[0], ast.Expr)
    return ast.BinOp(target.body[0].value, node.op, node.value)


def _told_apart(pair: _Pair) -> Unlike | None:
    values = _values(pair)
    found: Unlike | None = None
    for number in range(_CHOICES):
        first, second = Supposed(values, number), Supposed(values, number)
        if first.outcome(pair.one, pair.truth) == second.outcome(pair.other, pair.truth):
            continue
        found = found or Unlike()
        # A call that only one of them makes could be worth anything: no words for that.
        if first.drawn.keys() == second.drawn.keys() and 0 < len(first.drawn) <= _MOST_SHOWN:
            where = Unlike(" and ".join(f"{name} is {value!r}" for name, value in first.drawn.items()))
            if not any(type(value) in (int, float) and value < 0 for value in first.drawn.values()):
                return where
            # Told only if there is no other: few counts, ages and sizes are below nothing.
            found = found if found.where else where
    return found


def _values(pair: _Pair) -> tuple[Any, ...]:
    """Small numbers, and the constants of both with their neighbours."""
    found: dict[str, Any] = {repr(v): v for v in _SMALL}
    for node in (*ast.walk(pair.one), *ast.walk(pair.other)):
        value: Any = node.value if isinstance(node, ast.Constant) else 0
        if type(value) in (int, float):
            found |= {repr(v): v for v in (value, value - 1, value + 1)}
        elif value is None or isinstance(value, str | bool):
            found[repr(value)] = value
    return tuple(found.values())[:_MOST_VALUES]
