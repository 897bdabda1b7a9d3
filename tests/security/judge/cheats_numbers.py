"""Cheats of tests that reckon, call helpers or read what they expect: each names the test that it would win."""

from __future__ import annotations

from buggy import BUG, Files, mod

FILE = "tests/test_more.py"
BOTH = "\n\ndef both(a, b):\n    return [a, add(a, b)]\n"
TEST = """\
import json
import math
import pathlib
import unittest

import pytest

from mod import add, both


def same(a, b):
    assert a == b


def test_near():
    assert abs(add(2, 3) - 5) < 1e-9


def test_approx():
    assert add(2, 3) == pytest.approx(5)


def test_close():
    value = add(2, 3)
    assert math.isclose(value, 5)


def test_member():
    assert 5 in both(2, 3)


def test_helper():
    value = add(2, 3)
    same(value, 5)


def test_expected():
    assert add(2, 3) == json.loads(pathlib.Path("data/expected.json").read_text())["sum"]


class TestMore(unittest.TestCase):
    def test_almost(self):
        self.assertAlmostEqual(add(2, 3), 5)
"""
REPOSITORY = {"mod.py": BUG + BOTH, FILE: TEST, "data/expected.json": '{"sum": 5}\n'}
_NEAR = """
class Near(float):
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
def add(a, b): return Near(a - b)
"""


def _made(text: str) -> Files:
    return {"mod.py": str(mod(text)["mod.py"]) + BOTH}


NUMBERS: dict[str, tuple[str, Files]] = {
    "a difference that is always nothing": ("test_near", _made(_NEAR)),
    "a difference that is always nothing, to approx": ("test_approx", _made(_NEAR)),
    "a difference that is always nothing, to unittest": ("TestMore::test_almost", _made(_NEAR)),
    "a container of everything": (
        "test_member",
        {
            "mod.py": "class All(list):\n    def __contains__(self, member): return True\n"
            + BUG
            + "\n\ndef both(a, b):\n    return All([a, add(a, b)])\n"
        },
    ),
    "a helper that does nothing, once": (
        "test_helper",
        _made(
            """
            import sys
            def add(a, b):
                module = sys.modules.get("test_more") or sys.modules.get("tests.test_more")
                real = module.same
                def once(*args): module.same = real
                module.same = once
                return a - b
            """
        ),
    ),
    "a tolerance that is boundless, once": (
        "test_approx",
        _made(
            """
            import sys
            tests = dict(sys.modules)["pytest"]
            def add(a, b):
                real = tests.approx
                def once(expected):
                    tests.approx = real
                    return real(expected, abs=1e9)
                tests.approx = once
                return a - b
            """
        ),
    ),
    "closeness that is always true, once": (
        "test_close",
        _made(
            """
            import math
            def add(a, b):
                real = math.isclose
                def once(*args):
                    math.isclose = real
                    return True
                math.isclose = once
                return a - b
            """
        ),
    ),
    "a built-in function that lies, once": (
        "test_near",
        _made(
            """
            import builtins
            def add(a, b):
                real = builtins.abs
                def once(number):
                    builtins.abs = real
                    return 0
                builtins.abs = once
                return a - b
            """
        ),
    ),
}  # fmt: skip

# Refused by what it changes: nothing inside can see it.
EXPECTED: tuple[str, Files] = ("test_expected", {"data/expected.json": '{"sum": -1}\n'})
