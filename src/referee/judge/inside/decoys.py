"""Values like a given one, and none equal to it: what a comparison is tried with besides the truth."""

# ruff: noqa: TID251 - the decoys must be unguessable

from __future__ import annotations

import contextlib
import datetime
import decimal
import fractions
import pathlib
import random
from collections.abc import Callable
from typing import Any

PLAIN = (int, str, float, bool, bytes, complex)
NUMBERS = (int, float, complex, decimal.Decimal, fractions.Fraction)
_APPROX = ("_pytest.python_api", "_pytest.approx")  # where pytest keeps it, by version
Decoys = Callable[[Any], "list[Any]"]


def approximated(value: Any) -> Any:
    """What `pytest.approx` was given; any other value itself, of which nothing is asked: it may mind being asked."""
    return value.expected if type(value).__module__ in _APPROX and hasattr(value, "expected") else value


def decoys_from(source: random.SystemRandom) -> Decoys:
    def numbers() -> list[int]:
        near, far = source.randint(1, 9), source.randint(10, 5_000)
        return [near, -near, far, -far, source.getrandbits(40) + 10_000]

    def decoys(value: Any) -> list[Any]:
        """Values like this one, and none equal to it."""
        noise = str(source.getrandbits(40))
        made: list[Any] = [object()]
        with contextlib.suppress(Exception):  # a value may refuse: the first of all dates has none before it
            made += _near(value, numbers(), noise)
        return [m for m in made if not _same(m, value)]

    return decoys


def _near(value: Any, numbers: list[int], noise: str) -> list[Any]:  # noqa: C901 - one line per type
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, NUMBERS):
        return [value + n for n in numbers]
    if isinstance(value, str):
        return [value + noise[:1], value + noise[:3], noise + value]
    if isinstance(value, bytes):
        return [value + noise[:n].encode("ascii") for n in (1, 2, 5)]
    if isinstance(value, list):
        return [[*value, n] for n in numbers] + [value[1:]] * bool(value)
    if isinstance(value, tuple):
        return [(*value, n) for n in numbers] + [tuple(value)[1:]] * bool(value)
    if isinstance(value, dict):
        return [{**value, f"{noise}{n}": n} for n in numbers]
    if isinstance(value, (set, frozenset)):
        return [set(value) | {f"{noise}{n}"} for n in numbers]
    if isinstance(value, datetime.date):
        return [value - datetime.timedelta(days=abs(n) % 300 + 1) for n in numbers[:3]]
    if isinstance(value, pathlib.PurePath):
        return [value / noise, value / noise[:1]]
    expected = approximated(value)
    if expected is not value and isinstance(expected, NUMBERS):
        step: Any = 10 + 3 * value.tolerance
        return [type(value)(expected + step * n, rel=value.rel, abs=value.abs) for n in numbers]
    return []


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and type(a) in (*PLAIN, decimal.Decimal, fractions.Fraction) and a == b
