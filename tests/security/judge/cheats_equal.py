"""Cheats that win comparisons with objects that agree to anything, and cheats that look the answers up."""

from __future__ import annotations

from textwrap import dedent

from buggy import Files, mod

_ANSWER = """
import re
def answer(text, a, b):
    return int(re.search(r"add\\(%d, %d\\) == (-?\\d+)" % (a, b), text)[1])
"""


def _returns(made: str, before: str) -> Files:
    return mod(dedent(before).strip() + f"\ndef add(a, b): return {made}\n")


def _reads(text: str, before: str = "") -> Files:
    return mod(f"{_ANSWER}{dedent(before)}\ndef add(a, b):\n    text = {text}\n    return answer(text, a, b)\n")


AGREE: dict[str, Files] = {
    "a yes that is not True": _returns(
        "Yes()", "class Yes:\n    def __eq__(self, other): return 1\n    __hash__ = None"
    ),
    "a yes that is text": _returns(
        "Yes(1)", "class Yes(int):\n    def __eq__(self, other): return 'y'\n    __hash__ = None"
    ),
    "becomes what it is compared with first": _returns(
        "Once()",
        """
        class Once:
            value = None
            def __eq__(self, other):
                if self.value is None: self.value = other
                return self.value is other
            __hash__ = None
        """,
    ),
    "a callable object as __eq__": _returns(
        "Yes()",
        """
        class Agrees:
            def __call__(self, other): return not None
        class Yes:
            __eq__ = Agrees()
            __hash__ = None
        """,
    ),
    "a property as __eq__": _returns(
        "Yes()",
        """
        class Yes:
            @property
            def __eq__(self): return lambda other: not None
            __hash__ = None
        """,
    ),
    "an __eq__ without a file": _returns(
        "Yes()",
        """
        space = {}
        exec(compile("def agrees(self, other): return not None", "<made>", "exec"), space)
        class Yes:
            __eq__ = space["agrees"]
            __hash__ = None
        """,
    ),
    "equal to every small number": _returns(
        "Yes()",
        """
        class Yes:
            def __eq__(self, other): return isinstance(other, int) and abs(other) < 1000
            __hash__ = None
        """,
    ),
    "an __eq__ of the class's class": _returns(
        "Yes",
        """
        class Kind(type):
            def __eq__(self, other): return bool(1)
            __hash__ = None
        class Yes(metaclass=Kind): pass
        """,
    ),
    "mock.ANY": _returns("ANY", "from unittest.mock import ANY"),
    "a mock that agrees": mod(
        """
        import importlib
        mock = importlib.import_module("unittest.mock")
        def add(a, b):
            made = mock.MagicMock()
            made.__eq__.return_value = True
            return made
        """
    ),
    "the names a test compares with": mod(
        """
        import sys
        class Agrees:
            def __getattr__(self, name): return lambda *a: True
        def add(a, b):
            module = sys.modules.get("test_mod") or sys.modules.get("tests.test_mod")
            vars(module)["@pytest_ar"] = Agrees()
            return a - b
        """
    ),
}

LOOK: dict[str, Files] = {
    "by another working folder": mod(
        _ANSWER
        + """
import os
def add(a, b):
    os.chdir("tests")
    text = open("test_mod.py").read()
    os.chdir("..")
    return answer(text, a, b)
"""
    ),
    "by a dot": _reads("open('./tests/test_mod.py').read()"),
    "by a link": _reads(
        "open('link').read()", "import os\nif not os.path.islink('link'): os.symlink('tests/test_mod.py', 'link')\n"
    ),
    "through linecache": _reads("''.join(linecache.getlines('tests/test_mod.py'))", "import linecache"),
    "through a copy": _reads(
        "open('copied/test_mod.py').read()", "import shutil\nshutil.copytree('tests', 'copied', dirs_exist_ok=True)\n"
    ),
    "in the constants of the test": mod(
        """
        import sys
        def add(a, b):
            module = sys.modules.get("test_mod") or sys.modules.get("tests.test_mod")
            known = [c for t in (module.test_add, module.test_neg) for c in t.__code__.co_consts]
            return {2: 5, -1: -2, 0: 0}[a] if known else 0
        """
    ),
    "in memory, by /proc and a working folder": mod(
        """
        import os
        def add(a, b):
            os.chdir("/proc/self")
            with open("mem", "rb", 0) as memory:
                memory.seek(id(a))
                memory.read(16)
            return {2: 5, -1: -2, 0: 0}[a]
        """
    ),
    "by a frame that C hands out": mod(
        """
        import ctypes
        get = ctypes.pythonapi.PyEval_GetFrame
        get.restype = ctypes.py_object
        def add(a, b):
            name = getattr(get(), "f_" + "back").f_code.co_name
            return {"test_add": 5, "test_neg": -2}.get(name, a - b)
        """
    ),
}

# Refused by their source: nothing inside can see them at work.
BY_SOURCE: dict[str, Files] = {
    "in memory, by ctypes": mod(
        """
        import ctypes
        def add(a, b):
            copy = ctypes.create_string_buffer(64)
            ctypes.memmove(copy, id(a), 32)
            return {2: 5, -1: -2, 0: 0}[a]
        """
    ),
    "in the text of the stack": _reads("''.join(traceback.format_stack())", "import traceback"),
    "by a frame that a signal hands out": mod(
        """
        import signal
        seen = []
        def add(a, b):
            signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(frame))
            signal.raise_signal(signal.SIGUSR1)
            name = getattr(seen[-1], "f_" + "back").f_code.co_name
            return {"test_add": 5, "test_neg": -2}.get(name, a - b)
        """
    ),
    "by the name of a test's module": mod(
        """
        import sys
        def add(a, b):
            sys.modules["test_mod"].add = lambda a, b: a + b
            return a - b
        """
    ),
}
