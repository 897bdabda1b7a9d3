"""What the strict tier refuses by its source, and the functions that a patch changes."""

from __future__ import annotations

import pytest
from judge_lab import patch

from referee.judge.counterfactual import changed
from referee.judge.dynamic import dynamic
from referee.judge.suspicion import suspicions

REFUSED = (
    "getattr(x, 'a' + 'b')", "setattr(x, name, 1)", "g = getattr", "hasattr(x, n)", "getattr(x, '__globals__')",
    "eval('1')", "exec(t)", "compile(t, 'f', 'exec')", "__import__('os')", "globals()['x']", "vars(x)",
    "import inspect", "import ctypes", "import gc as g", "from importlib import import_module", "import pickle",
    "import sys\nsys.modules", "from sys import modules", "from sys import *", "import sys as s", "import sys\nt = sys",
    "import sys\nsys._getframe()", "f.f_back", "e.__traceback__.tb_frame", "c.co_consts", "x.__class__ = Y",
    "from operator import attrgetter", "import operator\noperator.attrgetter(n)", "'{0.__class__}'.format(x)",
    "'%(funcName)s'", "match e:\n    case object(__traceback__=t): pass", "class A:\n    __match_args__ = ('x',)",
    "class A:\n    def __getattribute__(self, n): return 1", "x.__dict__", "import subprocess",
    "import os\nos.system('x')",
    "import os as o", "import warnings\nwarnings.catch_warnings()",
    "import asyncio\nasyncio.current_task().get_stack()",
    "import string\nstring.Formatter()", "import signal", "x.__reduce__()",
)  # fmt: skip
ALLOWED = (
    "getattr(x, 'name', None)", "x.__class__.__name__", "import sys\nsys.exit(1)", "import os\nos.path.join('a', 'b')",
    "import os\nos.environ['HOME']", "import re\nre.compile('x')", "'{0.name} {1[a]}'.format(x, y)", "type(x)(1)",
    "import platform\nplatform.system()", "class A:\n    def __getattr__(self, n): return 1", "isinstance(x, int)",
    "import logging\nlogging.getLogger(__name__).warning('x')", "super().__init__()", "f'{x.name!r}'", "raise E from e",
)  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_dynamic_access_is_refused_where_it_is_new(text: str) -> None:
    source = text.encode()
    assert dynamic("integrity", "a.py", b"x = 1\n", source)
    assert dynamic("integrity", "a.py", source, source + b"\ny = 2\n") == ()


@pytest.mark.parametrize("text", ALLOWED)
def test_plain_code_is_not(text: str) -> None:
    assert dynamic("integrity", "a.py", b"", text.encode()) == ()


def test_what_cannot_be_seen_quickly_is_looked_at_closely() -> None:
    """The quick look before the close one must never say "clean" of what the close one refuses."""
    escaped = b'import os\nx = "\\x50YTEST_CURRENT_TEST"\n'
    disguised = "import sys\nsys._getfr\N{MATHEMATICAL ITALIC SMALL A}me()\n".encode()
    encoded = b"# -*- coding: utf-7 -*-\nimport os\nos.+AF8-exit(0)\n"
    for source in (escaped, disguised, encoded):
        assert suspicions("integrity", "a.py", b"", source), source


def test_changed_functions_are_told_from_other_changes() -> None:
    before = b"import os\nA = 1\ndef f(a):\n    return a\nclass C:\n    def g(self):\n        return 1\n"
    files = {"m.py": before}

    def of(after: bytes) -> tuple[dict[str, tuple[int, ...]], bool]:
        return tuple(changed(patch({"m.py": after}), files.get))  # type: ignore[return-value]

    assert of(before.replace(b"return a", b"return -a")) == ({"m.py": (3,)}, True)
    assert of(before.replace(b"return 1", b"return 2")) == ({"m.py": (6,)}, True)
    assert of(before.replace(b"A = 1", b"A = 2")) == ({}, False)
    assert of(before.replace(b"f(a)", b"f(a=2)")) == ({"m.py": (3,)}, False)
    assert of(before + b"import re\n") == ({}, False)
    assert of(b"# a note\n" + before) == ({}, True)
    assert of(b"def (") == ({}, False)
    assert tuple(changed(patch({"data.txt": "x"}), files.get)) == ({}, False)
