"""Test modules that fail in all the ways tests fail, with the facts a model needs of each."""

from __future__ import annotations

from textwrap import dedent

from failures_more import MORE

_PRODUCT = """
import dataclasses

@dataclasses.dataclass
class Point:
    x: int
    y: int

class Missing(Exception):
    pass

def total(items):
    return sum(i["price"] for i in items)

def lookup(table, key):
    try:
        return table[key]
    except KeyError as error:
        raise Missing(f"no entry {key!r}") from error

def forever(n):
    return forever(n + 1)

def spin():
    while True:
        pass

def noisy():
    for n in range(20_000):
        print("line", n)
    raise ValueError("after much noise")
"""

PRODUCT = {"product.py": dedent(_PRODUCT)}

# name -> (text of the test module, facts that must be told). A fact may be put in several ways, with a bar between.
CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    **MORE,
    "assert": (
        "def test():\n    assert 1 + 1 == 3\n",
        ("test_case.py:", "assert", "3", "1 failing|1 failed", "exit code 1"),
    ),
    "dict": (
        "def test():\n    assert {'a': 1, 'b': {'c': [1, 2, 4]}} == {'a': 1, 'b': {'c': [1, 2, 3]}}\n",
        ("['b']['c'][2]|'c': [1, 2, 4]", "4 != 3|[1, 2, 3]"),
    ),
    "list lengths": (
        "def test():\n    assert list(range(300)) == list(range(299))\n",
        ("300 items|299 more|at index 299|Left contains one more", "299", "[299]|299"),
    ),
    "long text": (
        "def test():\n    assert 'x' * 5000 + 'a' == 'x' * 5000 + 'b'\n",
        ("character 5000|- x", "5001 characters|5000 identical|4990 identical"),
    ),
    "sets": (
        "def test():\n    assert {1, 2} == {2, 3}\n",
        ("only left {1}|in the left set", "only right {3}|in the right set"),
    ),
    "dataclass": (
        "from product import Point\ndef test():\n    assert Point(1, 2) == Point(1, 3)\n",
        (".y|y", "2 != 3"),
    ),
    "deep in product code": (
        "from product import total\ndef test():\n    total([{'price': 1}, {'prise': 2}])\n",
        ("KeyError", "'price'", "product.py:", "total"),
    ),
    "chained": (
        "from product import lookup\ndef test():\n    lookup({}, 'k')\n",
        ("product.Missing", "no entry 'k'", "caused by KeyError|direct cause", "in lookup"),
    ),
    "recursion": (
        "from product import forever\ndef test():\n    forever(0)\n",
        ("RecursionError", "product.py:", "forever", "(x|recursion depth exceeded"),
    ),
    "hang": (
        "from product import spin\ndef test():\n    spin()\n",
        ("ran longer than|killed", "product.py:", "in spin"),
    ),
    "noise": ("from product import noisy\ndef test():\n    noisy()\n", ("after much noise", "line 19999")),
    "import error": ("import nothing_here\ndef test(): pass\n", ("nothing_here", "collect", "ModuleNotFoundError")),
    "syntax error": ("def test(:\n    pass\n", ("SyntaxError", 'test_case.py:1|test_case.py", line 1', "def test(:")),
    "fixture": (
        "import pytest\n@pytest.fixture\ndef f():\n    raise OSError('no disk')\ndef test(f): pass\n",
        ("OSError", "no disk", "setup"),
    ),
    "unknown fixture": ("def test(nope): pass\n", ("nope", "setup", "not found")),
    "teardown": (
        "import pytest\n@pytest.fixture\ndef f():\n    yield\n    raise OSError('kept')\ndef test(f): pass\n",
        ("OSError", "kept", "teardown"),
    ),
    "many of one cause": (
        "import pytest\n@pytest.mark.parametrize('n', range(200))\ndef test(n):\n    assert n < 0\n",
        ("200 fail", "1 root cause|200 failed", "200x|200 failed", "test[0]"),
    ),
    "many causes": (
        "\n".join(
            f"def test_{n}():\n    raise {e}('m{n}')"
            for n, e in enumerate(
                (
                    "ValueError",
                    "TypeError",
                    "KeyError",
                    "IndexError",
                    "OSError",
                    "EOFError",
                    "NameError",
                    "RuntimeError",
                    "LookupError",
                    "ArithmeticError",
                    "BufferError",
                )
            )
        ),
        ("11 fail", "11 root causes|11 failed", "ValueError", "m0", "BufferError", "3 more root causes|m10"),
    ),
    "died": (
        "import os\ndef test_first(): pass\ndef test_second():\n    os._exit(3)\n",
        ("PROCESS DIED|exit code 3", "exit code 3", "test_second"),
    ),
    "segfault": (
        "import ctypes\ndef test_crash():\n    ctypes.string_at(0)\n",
        ("test_crash", "Segmentation fault", "SIGSEGV"),
    ),
    "killed": ("import os\ndef test_kill():\n    os.kill(os.getpid(), 9)\n", ("SIGKILL", "test_kill")),
    "did not raise": (
        "import pytest\ndef test():\n    with pytest.raises(ValueError):\n        pass\n",
        ("DID NOT RAISE", "ValueError"),
    ),
    "group": (
        "def test():\n    raise ExceptionGroup('both', [ValueError('left'), TypeError('right')])\n",
        ("ExceptionGroup", "ValueError: left", "TypeError: right"),
    ),
    "subprocess": (
        "import subprocess as s, sys\ndef test():\n    s.run([sys.executable, '-c', 'exit(4)'], check=True)\n",
        ("CalledProcessError", "exit status 4"),
    ),
    "mock": (
        "from unittest import mock\ndef test():\n    m = mock.Mock()\n    m(1)\n    m.assert_called_once_with(2)\n",
        ("Expected: mock(2)", "Actual: mock(1)"),
    ),
    "control characters": (
        "def test():\n    raise ValueError('\\x1b[31mred\\x1b[0m \\x00 \\udcff end')\n",
        ("red", "end", "ValueError"),
    ),
    "broken repr": (
        "class R:\n    def __repr__(self):\n        raise OSError\ndef test():\n    assert R() == 1\n",
        ("AssertionError", "repr of R raised OSError"),
    ),
    "unittest": (
        "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual([1], [2])\n",
        ("T::test", "Lists differ", "[1] != [2]"),
    ),
    "strict xfail": (
        "import pytest\n@pytest.mark.xfail(strict=True)\ndef test(): pass\n",
        ("strict xfail|XPASS(strict)", "test"),
    ),
    "no tests": ("x = 1\n", ("no test was collected|no tests ran",)),
}
