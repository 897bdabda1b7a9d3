"""How two versions of a file differ, as far as that decides which tests are run."""

from __future__ import annotations

import pytest

from referee.judge.selection.shape import Difference, difference, shape_of

BASE = '''
import os

LIMIT = 3
TABLE = build(LIMIT)

def plain(a, b=1):
    """Says what."""
    return a

@cached
def held(a):
    return a

class Thing(Base):
    size = 1

    def method(self):
        def inner():
            return 1
        return inner

    @property
    def both(self):
        return 1

    @both.setter
    def both(self, value):
        self.value = value

if os.name == "nt":
    def late():
        return 1
else:
    def late():
        return 2
'''
BODIES = [
    ("return a\n\n@cached", "return b\n\n@cached", {"plain"}),
    ("def held(a):\n    return a", "def held(a):\n    return -a", {"held"}),
    ("            return 1\n        return inner", "            return 2\n        return inner", {"Thing.method"}),
    ("self.value = value", "self.value = 0", {"Thing.both"}),
    ("    def late():\n        return 2", "    def late():\n        return 3", {"late"}),
    ("    return a\n\n@cached", "    # a remark\n\n    return (a)\n\n@cached", set()),
]
NAMES = [
    ("LIMIT = 3", "LIMIT = 4", {"LIMIT"}, set()),
    ("LIMIT = 3\n", "", {"LIMIT"}, {"LIMIT"}),
    ("LIMIT = 3\n", "LIMIT = 3\nOTHER = (1, -2)\n", {"OTHER"}, {"OTHER"}),
    ("LIMIT = 3\n", "import math\nLIMIT = 3\n", {"math"}, {"math"}),
    ("import os\n", "import os\ndef fresh(x, y=()):\n    return x\n", {"fresh"}, {"fresh"}),
    ("def plain", "def plainer", {"plain", "plainer"}, {"plain", "plainer"}),
]
WHOLE = [
    ("b=1", "b=2"),  # a default is evaluated when the module is imported, and can be read from outside
    ("Says what.", "Says that."),  # so is a docstring
    ("@cached\n", ""),
    ("size = 1", "size = 2"),
    ("class Thing(Base)", "class Thing"),
    ("TABLE = build(LIMIT)", "TABLE = build(2)"),
    ("LIMIT = 3\n", "LIMIT = 3\nLIMIT = 4\n"),
    ("LIMIT = 3", "LIMIT = three()"),
    ("import os\n", "import os\nimport antigravity\n"),
    ("import os\n", "import os\nfrom math import pi\n"),
    ("import os\n", "import os\ndef __getattr__(name):\n    return 1\n"),
    ("import os\n", "import os\ndef fresh(x: Missing):\n    return x\n"),
    ("    def method(self):", "    def __eq__(self, other):\n        return True\n\n    def method(self):"),
    ("nt", "posix"),
    ("LIMIT = 3", "__version__ = 3"),
]


def changed(old: str, new: str) -> Difference:
    assert old in BASE
    return difference(shape_of(BASE.encode()), shape_of(BASE.replace(old, new, 1).encode()))


@pytest.mark.parametrize(("old", "new", "bodies"), BODIES)
def test_a_changed_body_is_one_function(old: str, new: str, bodies: set[str]) -> None:
    assert changed(old, new) == Difference(bodies=frozenset(bodies))


@pytest.mark.parametrize(("old", "new", "names", "gone"), NAMES)
def test_a_name_that_comes_goes_or_changes_its_value_is_that_name(
    old: str, new: str, names: set[str], gone: set[str]
) -> None:
    found = changed(old, new)
    assert (found.names, found.gone, found.whole) == (names, gone, False)
    assert found.bodies == ({"plain"} if "plain" in names else set()), "who ran what is gone will miss it"


@pytest.mark.parametrize(("old", "new"), WHOLE)
def test_what_runs_at_import_is_the_whole_file(old: str, new: str) -> None:
    assert changed(old, new).whole


@pytest.mark.parametrize("source", [b"def", b"\xff\xfe", b"x = '\0'"])
def test_what_cannot_be_read_differs_wholly(source: bytes) -> None:
    assert shape_of(source) is None
    assert difference(shape_of(source), shape_of(source)).whole
