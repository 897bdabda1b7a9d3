"""Honest projects of every common shape: the bug is found, the repair passes, nothing is called tampering."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import dedent
from typing import Any

import pytest
from judge_lab import Lab, patch

from referee.domain.verdict import CheckState
from referee.judge import compress, screen, spectrum, try_gate, try_loop

Build = Callable[..., Lab]
BUG = "def add(a, b):\n    return a - b\n"
FIX = "def add(a, b):\n    return a + b\n"
TEST = "def test_add():\n    assert add(2, 3) == 5\n"


class Shape:
    """A repository, the file to repair, and the target expected to be found."""

    def __init__(self, code: str, target: str, files: Mapping[str, str], **more: Any) -> None:
        self.code, self.target, self.more = code, target, more
        self.files = {path: dedent(text) for path, text in files.items()}


SHAPES: dict[str, Shape] = {
    "flat": Shape("mod.py", "test_mod.py::test_add", {"mod.py": BUG, "test_mod.py": "from mod import add\n" + TEST}),
    "package with tests package": Shape(
        "pkg/calc.py",
        "tests/test_calc.py::test_add",
        {
            "pkg/__init__.py": "",
            "pkg/calc.py": BUG,
            "tests/__init__.py": "",
            "tests/helpers.py": "from pkg.calc import add\n",
            "tests/test_calc.py": "from tests.helpers import add\nfrom . import helpers\n" + TEST,
        },
    ),
    "src": Shape(
        "src/pkg/calc.py",
        "tests/test_calc.py::test_add",
        {
            "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n",
            "src/pkg/__init__.py": "from .calc import add\n",
            "src/pkg/calc.py": BUG,
            "tests/test_calc.py": "from pkg import add\n" + TEST,
        },
    ),
    "src without configuration": Shape(
        "src/pkg/calc.py",
        "tests/unit/test_calc.py::test_add",
        {
            "src/pkg/__init__.py": "",
            "src/pkg/calc.py": BUG,
            "tests/unit/test_calc.py": "from pkg.calc import add\n" + TEST,
        },
    ),
    "helpers and conftests in folders that are no packages": Shape(
        "mod.py",
        "tests/unit/test_mod.py::test_add",
        {
            "mod.py": BUG,
            "conftest.py": "import pytest\n@pytest.fixture\ndef two():\n    return 2\n",
            "tests/conftest.py": "import pytest\n@pytest.fixture\ndef three():\n    return 3\n",
            "tests/unit/conftest.py": "import pytest\n@pytest.fixture(autouse=True)\ndef _always():\n    yield\n",
            "tests/unit/shared.py": "from mod import add\n",
            "tests/unit/test_mod.py": (
                "from shared import add\ndef test_add(two, three):\n    assert add(two, three) == 5\n"
            ),
        },
    ),
    "tests inside the package": Shape(
        "pkg/calc.py",
        "pkg/tests/test_calc.py::test_add",
        {
            "pkg/__init__.py": "",
            "pkg/calc.py": BUG,
            "pkg/tests/__init__.py": "",
            "pkg/tests/test_calc.py": "from ..calc import add\n" + TEST,
        },
    ),
    "a package called test": Shape(
        "mod.py",
        "test/test_mod.py::test_add",
        {
            "mod.py": BUG,
            "test/__init__.py": "",
            "test/support.py": "import mod\n",
            "test/test_mod.py": "from test.support import mod\nadd = mod.add\n" + TEST,
        },
    ),
    "parameters with brackets and spaces": Shape(
        "mod.py",
        "tests/test_mod.py::test_add[two [plus] three :: \\xe4]",
        {
            "mod.py": BUG,
            "tests/test_mod.py": """
                import pytest
                from mod import add
                @pytest.mark.parametrize("a, b, c", [(2, 3, 5), (0, 0, 0)], ids=["two [plus] three :: \\u00e4", "zero"])
                def test_add(a, b, c):
                    assert add(a, b) == c
                """,
        },
    ),
    "fixtures in the module and in a class": Shape(
        "mod.py",
        "tests/test_mod.py::TestAdd::test_add",
        {
            "mod.py": BUG,
            "tests/test_mod.py": """
                import pytest
                from mod import add
                @pytest.fixture
                def two():
                    return 2
                class TestAdd:
                    @pytest.fixture
                    def three(self):
                        return 3
                    def test_add(self, two, three, tmp_path, monkeypatch):
                        monkeypatch.chdir(tmp_path)
                        assert add(two, three) == 5
                """,
        },
    ),
    "unittest": Shape(
        "mod.py",
        "tests/test_mod.py::AddTest::test_add",
        {
            "mod.py": BUG,
            "tests/test_mod.py": """
                import unittest
                from mod import add
                class AddTest(unittest.TestCase):
                    @classmethod
                    def setUpClass(cls):
                        cls.two = 2
                    def test_add(self):
                        self.assertEqual(add(self.two, 3), 5)
                    def test_many(self):
                        for n in range(3):
                            with self.subTest(n=n):
                                self.assertEqual(add(n, 0), n)
                    @unittest.skip("later")
                    def test_later(self):
                        raise AssertionError
                """,
        },
    ),
    "options, markers, skips and expected failures": Shape(
        "mod.py",
        "tests/test_mod.py::test_add",
        {
            "mod.py": BUG,
            "pytest.ini": """
                [pytest]
                addopts = -ra -x --strict-markers --strict-config -m "not slow" --tb=long --maxfail=1 -p no:doctest
                markers =
                    slow: takes long
                filterwarnings = error
                """,
            "tests/test_mod.py": """
                import sys
                import pytest
                from mod import add
                def test_add():
                    assert add(2, 3) == 5
                @pytest.mark.slow
                def test_slow():
                    raise AssertionError
                @pytest.mark.xfail(strict=True)
                def test_expected():
                    raise AssertionError
                @pytest.mark.skipif(sys.version_info > (3, 0), reason="old")
                def test_old():
                    raise AssertionError
                """,
        },
    ),
    "a failure that was there before": Shape(
        "mod.py",
        "tests/test_mod.py::test_add",
        {
            "mod.py": BUG,
            "tests/test_mod.py": "from mod import add\n" + TEST,
            "tests/test_other.py": "def test_broken():\n    assert 1 == 2\n",
            "tests/test_third.py": "import nothing_of_that_name\n",
        },
        targets=("tests/test_mod.py::test_add",),
    ),
    "importlib mode with equal names": Shape(
        "mod.py",
        "tests/a/test_same.py::test_add",
        {
            "mod.py": BUG,
            "pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['--import-mode=importlib']\n",
            "tests/a/test_same.py": "from mod import add\n" + TEST,
            "tests/b/test_same.py": "from mod import add\ndef test_zero():\n    assert add(0, 0) == 0\n",
        },
    ),
    "frames, tracebacks and odd equality that were there before": Shape(
        "pkg/calc.py",
        "tests/test_calc.py::test_add",
        {
            "pkg/__init__.py": "",
            "pkg/where.py": "import sys\ndef caller():\n    return sys._getframe(1).f_code.co_name\n",
            "pkg/calc.py": """
                from pkg.where import caller
                class Anything:
                    def __eq__(self, other):
                        return True
                    __hash__ = None
                def name():
                    return caller()
                def add(a, b):
                    return a - b
                """,
            "tests/test_calc.py": """
                from pkg.calc import Anything, add, name
                def test_add():
                    assert add(2, 3) == 5
                def test_rest():
                    assert Anything() == 3
                    assert name() == "name"
                """,
        },
    ),
    "objects that mind being asked": Shape(
        "mod.py",
        "tests/test_mod.py::test_add",
        {
            "mod.py": """
                import datetime
                class Shy:
                    def __getattr__(self, name):
                        raise ValueError("do not ask for " + name)
                    def __eq__(self, other):
                        return type(other) is Shy
                    def __sub__(self, other):
                        return 0
                    __hash__ = None
                class Standing:
                    __class__ = property(lambda self: list)
                    def __eq__(self, other):
                        return other == [1]
                class First:
                    def __eq__(self, other):
                        return other == datetime.date.min
                class Refusal(Exception):
                    def __getattr__(self, name):
                        raise ValueError("do not ask for " + name)
                def add(a, b):
                    return a - b
                """,
            "tests/test_mod.py": """
                import datetime
                import pytest
                from mod import First, Refusal, Shy, Standing, add
                def test_add():
                    assert add(2, 3) == 5
                def test_rest():
                    assert Shy() == Shy() and Standing() == [1] and First() == datetime.date.min
                    assert add(2.0, 1.0) == pytest.approx(1.0) or add(2.0, 1.0) == pytest.approx(3.0)
                def test_refusal():
                    with pytest.raises(Refusal):
                        raise Refusal
                """,
        },
    ),
    "a plugin of the project's own": Shape(
        "mod.py",
        "tests/test_mod.py::test_add",
        {
            "mod.py": BUG,
            "plug.py": "import pytest\n@pytest.fixture\ndef two():\n    return 2\n",
            "conftest.py": "pytest_plugins = ['plug']\n",
            "tests/test_mod.py": "from mod import add\ndef test_add(two):\n    assert add(two, 3) == 5\n",
        },
    ),
    "asynchronous tests without a plugin for them": Shape(
        "mod.py",
        "tests/test_mod.py::test_add",
        {
            "mod.py": BUG,
            "tests/test_mod.py": """
                import asyncio
                from mod import add
                def test_add():
                    async def go():
                        await asyncio.sleep(0)
                        return add(2, 3)
                    assert asyncio.run(go()) == 5
                """,
        },
    ),
    "processes and threads": Shape(
        "mod.py",
        "tests/test_mod.py::test_add",
        {
            "mod.py": BUG,
            "tests/test_mod.py": """
                import multiprocessing, subprocess, sys, threading
                from mod import add
                def test_add():
                    with multiprocessing.get_context("fork").Pool(2) as pool:
                        assert pool.starmap(add, [(2, 3)]) == [5]
                    out = subprocess.run([sys.executable, "-c", "import mod; print(mod.add(2, 3))"],
                                         capture_output=True, text=True, check=True).stdout
                    assert out == "5\\n"
                """,
        },
    ),
    "doctests": Shape(
        "mod.py",
        "mod.py::mod.add",
        {
            "mod.py": 'def add(a, b):\n    """\n    >>> add(2, 3)\n    5\n    """\n    return a - b\n',
            "pytest.ini": "[pytest]\naddopts = --doctest-modules\n",
            "tests/test_mod.py": "def test_nothing():\n    pass\n",
        },
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_honest_projects(build: Build, name: str) -> None:
    """Cases H5, H7, H17: ids survive, collections match, modes and layouts agree."""
    shape = SHAPES[name]
    lab = build(shape.files, timeout=10_000)
    bench = lab.bench(*shape.more.get("targets", ()))
    assert shape.target in bench.targets, bench.targets
    assert lab.notes == []
    assert compress(bench.failures)
    change = patch({shape.code: shape.files[shape.code].replace("a - b", "a + b")})
    wrong = patch({shape.code: shape.files[shape.code].replace("a - b", "a * b")})
    results = (*try_loop(lab.run, bench, change, False), *try_gate(lab.run, bench, change, False))
    assert [(r.check, r.note, r.findings) for r in results if r.state is not CheckState.PASS] == []
    good, bad = screen(lab.run, bench, [change, wrong])
    assert (good.state, bad.state) == (CheckState.PASS, CheckState.FAIL), (good.findings, bad.findings)
    traced = {t.id: t for t in spectrum(lab.run, bench).tests}
    if "processes" not in name:
        assert shape.code in traced[shape.target].lines
