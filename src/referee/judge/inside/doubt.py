"""Whether an object says "equal" to whatever it is asked about.

Before a comparison counts, an `__eq__` that the patch brought is asked about the true value among others like it, in
random order: who does not know the answer cannot tell which question is the real one.
"""

# ruff: noqa: B905, TID251 - the project's Python may be older than zip(strict=); the doubts must be unguessable

from __future__ import annotations

import random
import types
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from .decoys import PLAIN, Decoys, approximated, decoys_from
from .parts import part
from .territory import Territory
from .voice import report

_SLOTS = (types.WrapperDescriptorType, types.MethodDescriptorType)
_BUILT_IN = (types.BuiltinFunctionType, type(None))
_PROXIES = (weakref.ProxyType, weakref.CallableProxyType)
_WRAPPING = ("/collections/__init__.py", "/fractions.py", "/weakref.py")
Claim = Callable[[Any, str, bool], "str | None"]
_MANY, _WIDE = 1_000, 200  # comparisons looked at, and parts of one value


class Doubts(NamedTuple):
    """Three questions; a yes is reported as it is given.

    `liar(a, b, mocks)`: does one of two equals claim more than it can know? `mocks` says that the test deals in mocks,
    which may claim what they like. `bent(a, b)`: is one as far from the other as from anything? `holds(b, a)`: does
    `b` claim to contain whatever it is asked about?
    """

    liar: Callable[[Any, Any, bool], bool]
    bent: Callable[[Any, Any], bool]
    holds: Callable[[Any, Any], bool]


def doubts(whose: Territory, honest: Collection[tuple[str, int]]) -> Doubts:
    """The questions as closures: no attribute of them can be replaced."""
    source = random.SystemRandom()
    decoys, place = decoys_from(source), _claims(whose, honest)
    bent = _bent(decoys, place)
    return Doubts(_liars(source, decoys, place, bent), bent, _holders(decoys, place))


def _liars(  # noqa: C901 - three short closures
    source: random.SystemRandom, decoys: Decoys, place_of: Claim, bent: Callable[[Any, Any], bool]
) -> Callable[[Any, Any, bool], bool]:

    def accused(claimant: Any, other: Any, mocks: bool) -> str | None:
        place = place_of(claimant, "__eq__", mocks)
        if place is None:
            return None
        kind: Any = type(other)
        if kind in PLAIN and kind.__eq__(other, claimant) is False:
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
            if a is b or (type(a) in PLAIN and type(b) in PLAIN):
                continue
            found = accused(a, b, mocks) or accused(b, a, mocks)
            if found:
                return found
            waiting += _pairs(a, b)
        return None

    def liar(a: Any, b: Any, mocks: bool) -> bool:
        if type(a) in PLAIN and type(b) in PLAIN:
            return False
        place = find(a, b, mocks)
        if place is not None:
            report("tamper", ["always-equal", place])
        return place is not None or bent(a, b)

    return liar


def _bent(decoys: Decoys, place_of: Claim) -> Callable[[Any, Any], bool]:
    def off(a: Any, b: Any) -> Any:
        try:
            return a - b
        except Exception:
            return None

    def bent(a: Any, b: Any) -> bool:
        """Whether a difference is the same with smaller and with greater numbers in place of one."""
        if type(a) in PLAIN and type(b) in PLAIN:
            return False
        for one, other, name in ((a, b, "__sub__"), (b, a, "__sub__"), (a, b, "__rsub__"), (b, a, "__rsub__")):
            place = place_of(one, name, True)
            number = approximated(other)
            if place is None or type(number) not in (int, float):
                continue
            ways = [(d, off(one, d) if name == "__sub__" else off(d, one)) for d in (number, *decoys(number))]
            (_, truth), *others = ways
            same = [d for d, result in others if truth is not None and result == truth and isinstance(d, (int, float))]
            if any(d < number for d in same) and any(d > number for d in same):
                report("tamper", ["bent-arithmetic", place])
                return True
        return False

    return bent


def _holders(decoys: Decoys, place_of: Claim) -> Callable[[Any, Any], bool]:
    def holds(holder: Any, member: Any) -> bool:
        place = place_of(holder, "__contains__", True)
        if place is None:
            return False
        questions = decoys(member)
        if len(questions) < 3 or not all(_within(q, holder) for q in questions):
            return False
        report("tamper", ["holds-all", place])
        return True

    return holds


def _within(member: Any, holder: Any) -> bool:
    try:
        return bool(member in holder)
    except Exception:
        return False


def _says(claimant: Any, other: Any) -> bool:
    try:
        return bool(claimant == other)
    except Exception:
        return False


def _pairs(a: Any, b: Any) -> Iterator[tuple[Any, Any]]:
    """The parts of two values that a comparison of the wholes compares. A proxy is not what it stands for."""

    def both(*kinds: type) -> bool:
        return issubclass(type(a), kinds) and issubclass(type(b), kinds)

    if both(list, tuple):
        return zip(list.__iter__(a) if issubclass(type(a), list) else tuple.__iter__(a), list(b)[:_WIDE])
    if both(dict):
        return ((dict.__getitem__(a, k), b[k]) for k in list(b)[:_WIDE] if dict.__contains__(a, k))
    if both(deque):
        return zip(list(deque.__iter__(a))[:_WIDE], list(b)[:_WIDE])
    if both(set, frozenset):
        odd = [x for x in list(a)[:_WIDE] if type(x) not in PLAIN]
        return iter([(x, y) for x in odd for y in list(b)[:_WIDE]][:_WIDE])
    fields = getattr(type(a), "__dataclass_fields__", None)
    if fields and type(a) is type(b):
        return ((part(a, f), part(b, f)) for f in list(fields)[:_WIDE])
    return iter(())


def _claims(whose: Territory, honest: Collection[tuple[str, int]]) -> Claim:
    touched, library, relative = whose.touched, whose.library, whose.relative

    def claim(claimant: Any, name: str, mocks: bool) -> str | None:
        """The place of a method that is to be doubted; None if it need not be."""
        kind = type(claimant)
        owner = next((c for c in kind.__mro__ if name in c.__dict__), object)
        method = owner.__dict__.get(name)
        if kind in _PROXIES and name == "__eq__":
            return f"{kind.__module__}.{kind.__qualname__}"
        if method is None or type(method) in _SLOTS or type(method) in _BUILT_IN:
            return None
        if kind.__module__ == "unittest.mock":
            return None if mocks else "unittest.mock"
        code = getattr(method, "__code__", None)
        if not isinstance(code, types.CodeType):
            return f"{kind.__module__}.{kind.__qualname__}"
        file, line = code.co_filename, code.co_firstlineno
        if (file, line) in honest:
            return None
        # Of the standard library: such as only asks what it wraps.
        wraps = name == "__eq__" and file.endswith(_WRAPPING) and library(file)
        generated = file.startswith("<") and not library(file)
        return f"{relative(file)}:{line}" if touched(file) or generated or wraps else None

    return claim
