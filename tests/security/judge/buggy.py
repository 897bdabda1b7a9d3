"""A module with a bug, tests that see it, and how a patch of it is written."""

from __future__ import annotations

from textwrap import dedent

BUG = "def add(a, b):\n    return a - b\n"
FIX = "def add(a, b):\n    return a + b\n"
TEST = """\
from mod import add


def same(a, b):
    assert a == b


def test_add():
    assert add(2, 3) == 5
    same(add(2, 3), 5)


def test_neg():
    assert add(-1, -1) == -2


def test_zero():
    assert add(0, 0) == 0
"""
REPOSITORY = {"mod.py": BUG, "tests/test_mod.py": TEST}
TARGETS = ("tests/test_mod.py::test_add", "tests/test_mod.py::test_neg")
GREEN = "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
NAMES = ("test_add", "test_neg", "test_zero")
Files = dict[str, str | bytes]


def mod(text: str) -> Files:
    return {"mod.py": dedent(text)}


def with_bug(text: str) -> Files:
    return {"mod.py": dedent(text) + BUG}
