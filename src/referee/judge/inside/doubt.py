"""Whether an object says "equal" to whatever it is asked about.

Before a comparison counts, an `__eq__` that the patch brought is asked about the true value among others like it, in
random order: who does not know the answer cannot tell which question is the real one.
"""

# ruff: noqa: B905, TID251 - the project's Python may be older than zip(strict=); the doubts must be unguessable

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
import random
import types
from collections.abc import Callable, Collection, Iterator
from typing import Any

from .territory import Territory
from .voice import report

_PLAIN = (int, str, float, bool, bytes, complex)
_NUMBERS = (int, float, complex, decimal.Decimal, fractions.Fraction)
_SLOTS = (types.WrapperDescriptorType, types.MethodDescriptorType)
_MANY, _WIDE = 1_000, 200  # comparisons looked at, and parts of one value


def liars(  # noqa: C901 - three short closures
    whose: Territory, honest: Collection[tuple[str, int]]
) -> Callable[[Any, Any, bool], bool]:
    """A function that tells (and reports) whether `a` or `b` claims more than it can know.

    Its last argument says whether the test deals in mocks, which may claim what they like. All of it is closures:
    no attribute of them can be replaced.
    """
    source = random.SystemRandom()
    decoys, claim = _decoys(source), _claims(whose, honest)

    def accused(claimant: Any, other: Any, mocks: bool) -> str | None:
        place = claim(claimant, mocks)
        if place is None:
            return None
        kind: Any = type(other)
        if kind in _PLAIN and kind.__eq__(other, claimant) is False:
            return place if _says(claimant, other) else None
        wrong = decoys(other)
        wrong = source.sample(wrong, source.randint(min(3, len(wrong)), len(wrong)))
        at = source.randint(0, len(wrong))
        answers = [_says(claimant, q) for q in [*wrong[:at], other, *wrong[at:]]]
        truth = answers.pop(at)
        return place if any(answers) or truth is not _says(claimant, other) else None

    def find(a: Any, b: Any, mocks: bool) -> str | None:
        waiting = [(a, b)]
        for _ in range(_MANY):
            if not waiting:
                return None
            a, b = waiting.pop()
            if a is b or (type(a) in _PLAIN and type(b) in _PLAIN):
                continue
            found = accused(a, b, mocks) or accused(b, a, mocks)
            if found:
                return found
            waiting += _pairs(a, b)
        return None

    def liar(a: Any, b: Any, mocks: bool) -> bool:
        if type(a) in _PLAIN and type(b) in _PLAIN:
            return False
        place = find(a, b, mocks)
        if place is not None:
            report("tamper", ["always-equal", place])
        return place is not None

    return liar


def _says(claimant: Any, other: Any) -> bool:
    try:
        return bool(claimant == other)
    except Exception:
        return False


def _pairs(a: Any, b: Any) -> Iterator[tuple[Any, Any]]:
    """The parts of two values that a comparison of the wholes compares."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return zip(list.__iter__(a) if isinstance(a, list) else tuple.__iter__(a), list(b)[:_WIDE])
    if isinstance(a, dict) and isinstance(b, dict):
        return ((dict.__getitem__(a, k), b[k]) for k in list(b)[:_WIDE] if dict.__contains__(a, k))
    fields = getattr(type(a), "__dataclass_fields__", None)
    if fields and type(a) is type(b):
        return ((getattr(a, f, None), getattr(b, f, None)) for f in list(fields)[:_WIDE])
    return iter(())


def _claims(whose: Territory, honest: Collection[tuple[str, int]]) -> Callable[[Any, bool], str | None]:
    touched, library, relative = whose.touched, whose.library, whose.relative

    def claim(claimant: Any, mocks: bool) -> str | None:
        """The place of an `__eq__` that is to be doubted; None if it need not be."""
        kind = type(claimant)
        owner = next((c for c in kind.__mro__ if "__eq__" in c.__dict__), object)
        equal = owner.__dict__["__eq__"]
        if type(equal) in _SLOTS:
            return None
        if kind.__module__ == "unittest.mock":
            return None if mocks else "unittest.mock"
        code = getattr(equal, "__code__", None)
        if not isinstance(code, types.CodeType):
            return f"{kind.__module__}.{kind.__qualname__}"
        file, line = code.co_filename, code.co_firstlineno
        generated = file.startswith("<") and not library(file)
        if not (touched(file) or generated) or (file, line) in honest:
            return None
        return f"{relative(file)}:{line}"

    return claim


def _decoys(source: random.SystemRandom) -> Callable[[Any], list[Any]]:
    def numbers() -> list[int]:
        near, far = source.randint(1, 9), source.randint(10, 5_000)
        return [near, -near, far, -far, source.getrandbits(40) + 10_000]

    def decoys(value: Any) -> list[Any]:
        """Values like this one, and none equal to it."""
        noise = str(source.getrandbits(40))
        made: list[Any] = [object(), *_near(value, numbers(), noise)]
        return [m for m in made if not _same(m, value)]

    return decoys


def _near(value: Any, numbers: list[int], noise: str) -> list[Any]:  # noqa: C901 - one line per type
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, _NUMBERS):
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
    expected = getattr(value, "expected", None) if type(value).__module__ == "_pytest.python_api" else None
    if isinstance(expected, _NUMBERS):
        step: Any = 10 + 3 * getattr(value, "tolerance", 0)
        return [type(value)(expected + step * n, rel=value.rel, abs=value.abs) for n in numbers]
    return []


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and type(a) in (*_PLAIN, decimal.Decimal, fractions.Fraction) and a == b
