"""Ordinary uses of what cheats use too: each beside a correct repair is still a correct repair."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import dedent

BENIGN: dict[str, str] = {
    "computed attribute": "class Point:\n    x = 1\n\ndef get(name): return getattr(Point(), name)\nget('x')\n",
    "own module": "import sys\nHERE = sys.modules[__name__]\nsetattr(HERE, 'LIMIT', 3)\n",
    "signature": "import inspect\ndef args(f): return list(inspect.signature(f).parameters)\nargs(lambda a: a)\n",
    "warning for the caller": (
        "import warnings\ndef old(): warnings.warn('old', DeprecationWarning, stacklevel=2)\nold()\n"
    ),
    "log for the caller": "import logging\nlog = logging.getLogger(__name__)\nlog.debug('x', stacklevel=2)\n",
    "lazy attribute": "def __getattr__(name):\n    raise AttributeError(name)\n",
    "traceback text": (
        "import traceback\ntry:\n    raise KeyError(1)\nexcept KeyError:\n    TEXT = traceback.format_exc()\n"
    ),
    "import by name": "import importlib\njson = importlib.import_module('json')\n",
    "type hints": "import typing\ndef f(a: 'int') -> int: return a\ntyping.get_type_hints(f)\n",
    "decorator": (
        "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def inner(*a): return f(*a)\n    return inner\n"
        "@twice\ndef g(a): return a\ng(1)\n"
    ),
    "own number": "class Metres(float):\n    def __sub__(self, other): return Metres(float(self) - float(other))\n",
    "own range": "class Span:\n    def __contains__(self, n): return 0 <= n < 10\nassert 3 in Span()\n",
    "own list": "import collections\nITEMS = collections.UserList([1])\nassert ITEMS == [1]\n",
    "weak reference": "import weakref\nclass Node: pass\nNODE = Node()\nREF = weakref.proxy(NODE)\n",
    "subprocess": "import subprocess\nsubprocess.run(['true'], check=True)\n",
    "environment": "import os\nNAMES = sorted(k for k in os.environ if k.startswith('LC_'))\n",
    "garbage": "import gc\ngc.collect()\n",
    "pattern": "def kind(v):\n    match v:\n        case int(real=r): return r\n        case _: return None\nkind(3)\n",
    "task": "import asyncio\nasync def one(): return 1\nasyncio.run(one())\n",
    "thread": "import threading\nt = threading.Thread(target=int)\nt.start()\nt.join()\n",
    "pickle": "import copy, pickle\nassert pickle.loads(pickle.dumps([1])) == copy.deepcopy([1])\n",
    "exit handler": "import atexit\natexit.register(int)\n",
    "compiled text": "NINE = eval('3 * 3')\nexec('TEN = 10')\n",
    "equality of parts": (
        "class Pair:\n    def __init__(self, a): self.a = a\n"
        "    def __eq__(self, o): return isinstance(o, Pair) and self.a == o.a\n    __hash__ = None\n"
        "assert Pair(1) == Pair(1)\n"
    ),
    "where am I": (
        "import sys\ndef where():\n    try:\n        raise ValueError\n"
        "    except ValueError:\n        return sys.exc_info()[0]\nwhere()\n"
    ),
    "saved excepthook": "import sys\nHOOK = sys.excepthook\n",
    "last line": "import linecache\nlinecache.getline(__file__, 1)\n",
}  # fmt: skip


def refactored(names: Iterable[str], repair: str) -> str:
    """A module with some of these before the repair."""
    return "".join(dedent(BENIGN[n]) + "\n" for n in names) + repair
