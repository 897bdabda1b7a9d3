"""More test modules that fail, for the kinds of failure that real suites have; read `failures` first."""

from __future__ import annotations

MORE: dict[str, tuple[str, tuple[str, ...]]] = {
    "two causes of many": (
        "import pytest\n@pytest.mark.parametrize('n', range(60))\ndef test(n):\n"
        "    if n % 2:\n        raise TypeError('odd')\n    raise ValueError('even')\n",
        ("60 fail", "TypeError: odd", "ValueError: even", "test_case.py:5", "test_case.py:6"),
    ),
    "log flood": (
        "import logging\ndef test():\n    for n in range(500):\n        logging.warning('step %d', n)\n"
        "    assert 4 == 5\n",
        ("test_case.py:5", "assert 4 == 5", "step 499"),
    ),
    "warning flood": (
        "import warnings\ndef test():\n    for n in range(2000):\n        warnings.warn(f'old {n}')\n"
        "    assert 7 == 8\n",
        ("test_case.py:5", "assert 7 == 8"),
    ),
    "unicode": (
        "def test():\n    assert 'Grüße 日本' == 'Grüsse 日本'\n",
        ("Grüße 日本", "Grüsse 日本", "test_case.py:2"),
    ),
    "huge repr": (
        "class Huge:\n    def __repr__(self):\n        return 'Huge ' + 'x' * 900_000\n"
        "def test():\n    assert Huge() is None\n",
        ("Huge xxx", "is None", "test_case.py:5"),
    ),
    "memory": ("def test():\n    raise MemoryError\n", ("MemoryError", "test_case.py:2")),
    "hypothesis": (
        "from hypothesis import given, settings, strategies as st\n"
        "@settings(database=None)\n@given(st.integers())\ndef test(n):\n    assert n < 100\n",
        ("n=100", "assert 100 < 100", "test_case.py:5"),
    ),
    "async": (
        "import asyncio\nasync def inner():\n    await asyncio.sleep(0)\n    raise LookupError('gone')\n"
        "def test():\n    asyncio.run(inner())\n",
        ("LookupError", "gone", "test_case.py:4"),
    ),
    "snapshot": (
        "def test():\n    said = '\\n'.join(f'line {n}' for n in range(60)) + '\\nend'\n"
        "    assert said.replace('line 31', 'line XX') == said\n",
        ("line XX", "line 31", "test_case.py:3"),
    ),
    "doctest": (
        'import doctest\ndef double(n):\n    """\n    >>> double(2)\n    5\n    """\n    return n * 2\n'
        "def test():\n    found = doctest.DocTestFinder().find(double)[0]\n"
        "    doctest.DebugRunner(verbose=False).run(found)\n",
        ("DocTestFailure", "double(2)", "5", "4", "test_case.py:10"),
    ),
    "approx": (
        "import pytest\ndef test():\n    assert 0.3 == pytest.approx(0.4)\n",
        ("0.3", "0.4 ±", "test_case.py:3"),
    ),
    "array": (
        "class Array(list):\n    def __eq__(self, other):\n        return Array(a == b for a, b in zip(self, other))\n"
        "    def __bool__(self):\n        raise ValueError('the truth of an array is ambiguous')\n"
        "def test():\n    assert Array([1, 2]) == Array([1, 3])\n",
        ("ValueError", "the truth of an array is ambiguous", "test_case.py:7"),
    ),
    "not in": ("def test():\n    assert 'x' in ['a', 'b']\n", ("'x'", "['a', 'b']", "test_case.py:2")),
    "attribute": (
        "from product import Point\ndef test():\n    Point(1, 2).z\n",
        ("AttributeError", "'z'", "test_case.py:3"),
    ),
    "arguments": ("from product import total\ndef test():\n    total()\n", ("TypeError", "'items'", "test_case.py:3")),
    "wrong message": (
        "import pytest\ndef test():\n    with pytest.raises(ValueError, match='left'):\n"
        "        raise ValueError('right')\n",
        ("left", "right", "test_case.py:3"),
    ),
    "exit": ("import sys\ndef test():\n    sys.exit(2)\n", ("SystemExit: 2", "test_case.py:3")),
    "hang in a thread": (
        "import threading\ndef test():\n    t = threading.Thread(target=threading.Event().wait, daemon=True)\n"
        "    t.start()\n    t.join()\n",
        ("ran longer than", "test_case.py:5", "t.join()"),
    ),
    "class set-up": (
        "class TestA:\n    def setup_method(self):\n        self.x = {}['no']\n    def test(self): pass\n",
        ("KeyError", "'no'", "test_case.py:3", "setup"),
    ),
    "json": ("import json\ndef test():\n    json.loads('{')\n", ("JSONDecodeError", "char 1", "test_case.py:3")),
    "name": ("def test():\n    assert undefined_name\n", ("NameError", "undefined_name", "test_case.py:2")),
    "nested cause": (
        "def low():\n    raise OSError('disk')\ndef mid():\n    try:\n        low()\n"
        "    except OSError as e:\n        raise RuntimeError('load') from e\n"
        "def test():\n    try:\n        mid()\n    except RuntimeError as e:\n"
        "        raise ValueError('start') from e\n",
        ("ValueError", "start", "RuntimeError: load", "OSError: disk", "test_case.py:2"),
    ),
}
