"""Where to look first: lines by the spectrum, functions by what the failure names, and what to do without either."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import pytest

from referee.authors.search.clues import clues, emphasis
from referee.authors.search.localise import Lines, ochiai
from referee.authors.search.modules import Modules
from referee.authors.search.operators import Family
from referee.authors.search.survey import Evidence, Survey, Tree, survey
from referee.domain.finding import Finding, Frame

TEXT = """\
RATE = 0.07


def total(prices):
    result = 0
    for price in prices:
        result += price
    return result


def tax(amount):
    return amount * RATE


def unrelated(x):
    return x + 1
"""
TEST = "from shop.prices import tax, total\n\n\ndef test_tax():\n    assert tax(100) == 8\n"
TARGET = "tests/test_prices.py::test_tax"


def lines(*numbers: int, path: str = "shop/prices.py") -> Lines:
    return frozenset((path, n) for n in numbers)


def looked(files: Mapping[str, str], **facts: object) -> Survey:
    data = {p: t.encode() for p, t in files.items()}
    tree = Tree(paths=tuple(data), read=data.get, allowed=lambda p: not p.startswith("tests/"))
    return survey(tree, Evidence(targets=(TARGET,), **facts))  # type: ignore[arg-type]


def names(seen: Survey) -> list[tuple[str, int]]:
    best = sorted(seen.hot, key=lambda h: -h.heat.factor * h.heat.highest)
    return [(h.region.name, h.region.first_line) for h in best]


def test_ochiai_prefers_lines_that_only_failing_tests_run() -> None:
    scores = ochiai([lines(1, 2, 3), lines(2, 3)], [lines(3), lines(3, 4)])["shop/prices.py"]
    assert scores[2] == 1.0
    assert scores[3] == pytest.approx(2 / (2 * 4) ** 0.5)
    assert scores[1] == pytest.approx(0.5**0.5)
    assert 4 not in scores


def test_the_spectrum_ranks_functions_and_reaches_constants_they_use() -> None:
    seen = looked(
        {"shop/prices.py": TEXT, "tests/test_prices.py": TEST},
        failing=(lines(5, 6, 12),),
        passing=(lines(5, 6, 7, 8), lines(16)),
    )
    assert names(seen)[0] == ("tax", 11)
    assert set(names(seen)) == {("tax", 11), ("total", 4), ("", 1)}


def test_a_constant_of_an_imported_module_is_reached() -> None:
    files = {
        "shop/__init__.py": "",
        "shop/rates.py": "RATE = 0.07\nOTHER = 2\n",
        "shop/prices.py": "from .rates import RATE\n\n\ndef tax(amount):\n    return amount * RATE\n",
        "tests/test_prices.py": TEST,
    }
    seen = looked(files, failing=(lines(5),))
    assert {(h.region.source.path, h.region.first_line) for h in seen.hot} == {
        ("shop/prices.py", 4),
        ("shop/rates.py", 1),
    }


def test_the_function_a_failure_passed_through_comes_first() -> None:
    same = {"failing": (lines(5, 12, 16),)}
    frames = tuple(
        Frame(path=p, line=n, function="f") for p, n in (("tests/test_prices.py", 5), ("shop/prices.py", 16))
    )
    finding = Finding(check="pytest", id=TARGET, message="boom", error="ValueError", frames=frames)
    files = {"shop/prices.py": TEXT, "tests/test_prices.py": "def test_tax():\n    pass\n"}
    assert names(looked(files, **same))[0] == ("total", 4)  # the first of equals
    assert names(looked(files, **same, findings=(finding,)))[0] == ("unrelated", 15)


def test_a_function_that_the_failing_test_is_called_after_comes_first_among_equals() -> None:
    files = {"shop/prices.py": TEXT, "tests/test_it.py": "class TestIt:\n    def test_unrelated_case(self): ...\n"}
    data = {p: t.encode() for p, t in files.items()}
    tree = Tree(paths=tuple(data), read=data.get, allowed=lambda p: not p.startswith("tests/"))
    same = {"failing": (lines(5, 12, 16),), "targets": ("tests/test_it.py::TestIt::test_unrelated_case[1]",)}
    assert names(survey(tree, Evidence(**same)))[0] == ("unrelated", 15)  # type: ignore[arg-type]


def test_what_was_changed_lately_comes_first_among_equals() -> None:
    same = {"failing": (lines(5, 12, 16),)}
    files = {"shop/prices.py": TEXT, "tests/test_prices.py": "def test_tax():\n    pass\n"}
    assert names(looked(files, **same))[0] == ("total", 4)
    assert names(looked(files, **same, recent={"shop/prices.py": (16,)}))[0] == ("unrelated", 15)
    assert names(looked(files, failing=(lines(5),), recent={"shop/prices.py": (16,)})) == [("total", 4)]


def test_names_in_the_failing_test_or_the_task_text_count() -> None:
    same = {"failing": (lines(5, 12, 16),)}
    files = {"shop/prices.py": TEXT, "tests/test_prices.py": TEST}
    assert names(looked(files, **same))[0][0] in ("tax", "total")
    files["tests/test_prices.py"] = "def test_tax():\n    pass\n"
    assert names(looked(files, **same, text="`unrelated` is off by one"))[0] == ("unrelated", 15)


def test_code_that_runs_only_to_show_a_failure_is_not_blamed_for_it() -> None:
    text = "class Box:\n    def size(self):\n        return 1\n\n    def __repr__(self):\n        return 'Box'\n"
    files = {"shop/prices.py": text, "tests/test_prices.py": "def test_tax():\n    assert Box().size() == 2\n"}
    facts = {"failing": (lines(3, 6),), "passing": (lines(3), lines(3))}
    assert names(looked(files, **facts))[0] == ("Box.size", 2)
    files["tests/test_prices.py"] = "def test_tax():\n    assert repr(Box()) == 'box'\n"
    assert names(looked(files, **facts))[0] == ("Box.__repr__", 5)


def test_without_a_spectrum_imports_and_frames_say_where() -> None:
    """An import error or a crash of the tracer leaves no lines."""
    frame = Frame(path="shop/prices.py", line=12, function="tax")
    finding = Finding(check="pytest", id=TARGET, message="boom", error="NameError", frames=(frame,))
    files = {"shop/__init__.py": "", "shop/prices.py": TEXT, "tests/test_prices.py": TEST, "other.py": "x = 1\n"}
    seen = looked(files, findings=(finding,))
    assert names(seen)[0] == ("tax", 11)
    assert {h.region.source.path for h in seen.hot} == {"shop/prices.py"}
    assert "coverage" in seen.thin


def test_a_file_that_is_not_python_is_passed_over_and_named() -> None:
    files = {"shop/prices.py": "def f(:\n", "shop/b.py": TEXT, "tests/test_prices.py": TEST}
    seen = looked(files, failing=(lines(1) | lines(12, path="shop/b.py"),))
    assert seen.skipped == ("shop/prices.py",)
    assert {h.region.source.path for h in seen.hot} == {"shop/b.py"}


def test_protected_files_are_never_searched() -> None:
    files = {"tests/test_prices.py": TEST, "tests/helper.py": TEXT}
    assert looked(files, failing=(lines(12, path="tests/helper.py"),)).hot == ()


def test_imports_are_resolved_in_src_layouts_and_relative_to_packages() -> None:
    modules = Modules(["src/shop/__init__.py", "src/shop/a.py", "src/shop/sub/b.py", "src/shop/sub/__init__.py"])
    tree = ast.parse("from shop import a\nfrom .sub.b import x\nfrom . import sub\nimport os.path\n")
    assert modules.imported("src/shop/c.py", tree) == (
        "src/shop/a.py",
        "src/shop/__init__.py",
        "src/shop/sub/b.py",
        "src/shop/sub/__init__.py",
    )


@pytest.mark.parametrize(
    ("facts", "likelier", "than"),
    [
        ({"error": "IndexError"}, Family.OFFSET, Family.NAME),
        ({"error": "AttributeError", "message": "'NoneType' object has no attribute 'x'"}, Family.RETURN, Family.SLICE),
        ({"error": "AssertionError", "expected": "3", "actual": "2"}, Family.OFFSET, Family.STRING),
        ({"error": "AssertionError", "expected": "'Ab'", "actual": "'ab'"}, Family.STRING, Family.OFFSET),
        ({"error": "AssertionError", "expected": "True", "actual": "False"}, Family.CONDITION, Family.SLICE),
        ({"error": "builtins.NameError"}, Family.NAME, Family.CALL),
    ],
)
def test_the_kind_of_failure_makes_operators_likelier(facts: dict[str, str], likelier: Family, than: Family) -> None:
    found = emphasis([Finding(check="pytest", **{"message": "failed", **facts})])
    assert found.get(likelier, 1.0) > found.get(than, 1.0)


def test_a_failure_that_shows_no_literal_says_nothing() -> None:
    shown = Finding(check="pytest", message="m", error="AssertionError", expected="<Box at …>", actual="2")
    assert emphasis([shown]) == {}
    assert clues([], "", [shown]).errors == ()
