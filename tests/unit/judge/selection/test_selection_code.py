"""What the text of a project says without running it: who imports what, and who speaks of a name."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from referee.domain.patch import Patch
from referee.judge import layout
from referee.judge.selection.compare import Tree, code_of
from referee.judge.selection.mentions import Wanted
from referee.judge.selection.rules import Code

FILES = {
    "src/pkg/__init__.py": "from .core import run\n",
    "src/pkg/core.py": "from pkg import low\ndef run(): return low.LIMIT\n",
    "src/pkg/low.py": "LIMIT = 1\n",
    "src/pkg/apart.py": "def alone(): return getattr(object, 'x')\n",
    "tests/test_core.py": "import pkg\n",
    "tests/test_apart.py": "def test_a():\n    from pkg.apart import alone\n",
    "tests/test_helped.py": "from helping import aid\n",
    "tests/helping.py": "from pkg.apart import alone as aid\n",
    "tests/test_named.py": "def test_n(mocker):\n    mocker.patch('pkg.low')\n",
    "tests/test_none.py": "import json\n",
    "tests/sub/test_up.py": "from ..helping import aid\n",
    "tests/test_lively.py": "import importlib\n",
    "tests/test_broken.py": "def\n",
}


def code(files: Mapping[str, str]) -> Code:
    paths = sorted(files)
    guarded = frozenset(p for p in paths if p.startswith("tests/"))
    shape = layout.of(paths, ("test_*.py",), (), guarded)
    return code_of(Tree(paths, lambda p: files[p].encode(), Patch()), shape)


REACHING = [
    ("src/pkg/low.py", {"core", "named", "apart", "helped", "up"}),  # the package itself imports it
    ("src/pkg/apart.py", {"apart", "helped", "up"}),
    ("tests/helping.py", {"helped", "up"}),
    ("tests/test_none.py", {"none"}),
]


@pytest.mark.parametrize(("path", "tests"), REACHING)
def test_imports_are_followed_to_the_tests(path: str, tests: set[str]) -> None:
    found = {p.rpartition("test_")[2].removesuffix(".py") for p in code(FILES).reaching([path]) if "/test_" in p}
    always = {"lively", "broken"}
    assert found - always == tests
    assert found >= always, "what cannot be told may reach anything"


def test_nothing_reaches_nothing() -> None:
    assert code(FILES).reaching([]) == frozenset()


SPEAKS = [
    ("def f(): return LIMIT", False),  # its own name, or nobody's
    ("from pkg.low import LIMIT\ndef f(): return LIMIT", True),
    ("from pkg.low import LIMIT as top\ndef f(): return top", True),
    ("from pkg.low import *\ndef f(): return LIMIT", True),
    ("from pkg import low\ndef f(): return low.LIMIT", True),
    ("def f(mocker): mocker.patch('pkg.low.LIMIT', 3)", True),
    ("def f(x): return getattr(x, 'LI' + 'MIT')", True),
    ("def f(x): return getattr(x, 'other')", False),
    ("def f(x): return vars(x)", True),
    ("def f(x): x.other(LIMIT=1)", False),
    ("def f(limit): return limit", False),
]


@pytest.mark.parametrize(("text", "speaks"), SPEAKS)
def test_who_speaks_of_a_name(text: str, speaks: bool) -> None:
    files = {**FILES, "src/pkg/user.py": text}
    del files["tests/test_broken.py"]
    found = code(files).mentions(Wanted(path="src/pkg/low.py", names=frozenset({"LIMIT"})))
    assert (("src/pkg/user.py", "f") in found.functions) is speaks
    assert ("src/pkg/core.py", "run") in found.functions


def test_a_name_that_is_gone_is_missed_where_it_is_imported() -> None:
    files = {**FILES, "src/pkg/user.py": "from pkg.low import LIMIT\n__all__ = ['LIMIT']\n"}
    both = [frozenset(), frozenset({"LIMIT"})]
    wanted = [Wanted(path="src/pkg/low.py", names=frozenset({"LIMIT"}), gone=gone) for gone in both]
    here, gone = (code(files).mentions(w).files for w in wanted)
    assert ("src/pkg/user.py" in here, "src/pkg/user.py" in gone) == (False, True)
