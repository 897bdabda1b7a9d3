"""What is chosen for files that are no ordinary code, and for tests of which nothing is known."""

from __future__ import annotations

import pytest

from referee.judge.selection.mentions import Mentions
from referee.judge.selection.reached import BY, COLLECTED
from referee.judge.selection.rules import Change, Code, Record, Selection, select
from referee.judge.selection.shape import Difference

TESTS = ("a/test_a.py::test_one", "a/test_a.py::test_two", "b/test_b.py::test_three", "README.md::README.md")
CODE = Code(
    reaching=lambda paths: frozenset(paths),
    mentions=lambda wanted: Mentions(),
    tests=frozenset(("a/test_a.py", "b/test_b.py")),
    plugins=frozenset(("plug.py", "a/conftest.py")),
)
PLACES = {
    TESTS[0]: frozenset({("m.py", "f"), ("page.html", "")}),
    TESTS[1]: frozenset({("m.py", "g"), ("pages/", "")}),
    TESTS[2]: frozenset({("guide.md", "")}),
    TESTS[3]: frozenset(),
    COLLECTED: frozenset({("words.txt", ""), ("m.py", "g")}),
    f"{BY}b/test_b.py": frozenset({("m.py", "h"), ("names.txt", "")}),
}
ALL = {*range(4)}
CASES = [
    (Change(path="pyproject.toml"), ALL),
    (Change(path="sub/tox.ini"), ALL),
    (Change(path="plug.py", python=Difference(bodies=frozenset("f"))), ALL),
    (Change(path="words.txt"), ALL),  # read while tests were collected
    (Change(path="names.txt"), {2}),  # read while a test's module was imported
    (Change(path="m.py", python=Difference(bodies=frozenset("h"))), {2}),
    (Change(path="other.txt"), ALL),  # nobody was seen to read it
    (Change(path="page.html"), {0}),
    (Change(path="page.html", there=False), ALL),  # who asks whether it is there was not seen
    (Change(path="pages/new.html", there=False), ALL),
    (Change(path="pages/new.md", there=False), {1}),
    (Change(path="guide.md"), {2}),
    (Change(path="CHANGES"), set()),
    (Change(path="README.md"), {3}),  # it holds tests
    (Change(path="a/conftest.py", python=Difference(bodies=frozenset("f"))), {0, 1}),
    (Change(path="b/test_b.py", python=Difference(whole=True)), {2}),
    (Change(path="m.py", python=Difference(bodies=frozenset("f"))), {0}),
    (Change(path="m.py", python=Difference(bodies=frozenset("g"))), {0, 1}),  # it runs while tests are collected too
    (Change(path="m.py", python=Difference()), set()),
]


def numbers(found: Selection) -> set[int]:
    return {TESTS.index(t) for t in found.chosen(TESTS)}


@pytest.mark.parametrize(("change", "expected"), CASES, ids=lambda c: getattr(c, "path", ""))
def test_what_is_chosen(change: Change, expected: set[int]) -> None:
    assert numbers(select([change], CODE, TESTS, Record(PLACES, ()))) == expected


def test_nothing_changed_needs_no_test() -> None:
    assert numbers(select([], CODE, TESTS, None)) == set()


def test_tests_that_are_unknown_or_in_doubt_are_always_chosen() -> None:
    change = Change(path="CHANGES")
    fewer = {t: p for t, p in PLACES.items() if t != TESTS[3]}
    assert numbers(select([change], CODE, TESTS, Record(fewer, (TESTS[2],)))) == {2, 3}


@pytest.mark.parametrize("path", ["page.html", "CHANGES", "pyproject.toml"])
def test_without_a_map_nothing_is_known_of_other_files(path: str) -> None:
    assert select([Change(path=path)], CODE, TESTS, None).everything
