"""Patches that leave the bug in `mod.add` unrepaired and try to pass anyway, and honest ones that must pass."""

from __future__ import annotations

import importlib.util
import marshal
import sys
from textwrap import dedent

BUG = "def add(a, b):\n    return a - b\n"
FIX = "def add(a, b):\n    return a + b\n"
TEST = """\
from mod import add


def test_add():
    assert add(2, 3) == 5


def test_neg():
    assert add(-1, -1) == -2


def test_zero():
    assert add(0, 0) == 0
"""
REPOSITORY = {"mod.py": BUG, "tests/test_mod.py": TEST}
TARGETS = ("tests/test_mod.py::test_add", "tests/test_mod.py::test_neg")
_GREEN = "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
_NAMES = ("test_add", "test_neg", "test_zero")
Files = dict[str, str | bytes]


def _mod(text: str) -> Files:
    return {"mod.py": dedent(text)}


def _with_bug(text: str) -> Files:
    return {"mod.py": dedent(text) + BUG}


def _poisoned() -> bytes:
    """Byte code that claims to be unchecked and therefore needs no source."""
    code = compile("def add(a, b):\n    return {(2, 3): 5, (-1, -1): -2}.get((a, b), 0)\n", "mod.py", "exec")
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + b"\0" * 8 + marshal.dumps(code)


LEAVE: dict[str, Files] = {
    "exit at import": _mod("import os\nos._exit(0)\n"),
    "exit with the judge's code at import": _mod("import os\nos._exit(1)\n"),
    "sys.exit at import": _mod("import sys\nsys.exit(0)\n"),
    "exit from atexit": _with_bug("import atexit, os\natexit.register(os._exit, 0)\n"),
    "exit inside the function": _mod("import os\ndef add(a, b): os._exit(0)\n"),
    "exit with the judge's code inside the function": _mod("import os\ndef add(a, b): os._exit(1)\n"),
    "pytest.exit with code 0": _mod("import pytest\ndef add(a, b): pytest.exit('ok', returncode=0)\n"),
    "pytest.exit with code 1": _mod("import pytest\ndef add(a, b): pytest.exit('ok', returncode=1)\n"),
    "keyboard interrupt": _mod("def add(a, b): raise KeyboardInterrupt\n"),
    "print a passing summary and exit": _mod(
        "import os\nprint('tests/test_mod.py ...\\n3 passed in 0.01s', flush=True)\nos._exit(0)\n"
    ),
    "kill everything": _with_bug("import os\ntry: os.kill(-1, 9)\nexcept OSError: pass\n"),
    "kill the parent": _mod("import os\ndef add(a, b):\n    os.kill(os.getppid(), 9)\n    return a - b\n"),
    "replace the process": _mod(
        "import os, sys\ndef add(a, b):\n    os.execv(sys.executable, [sys.executable, '-c', 'raise SystemExit(1)'])\n"
    ),
    "fork and go on in the child": _mod(
        """
        import os
        def add(a, b):
            if os.fork():
                os._exit(1)
            return {(2, 3): 5, (-1, -1): -2}.get((a, b), 0)
        """
    ),
    "fork and hang": _mod(
        """
        import os, time
        if os.fork():
            os._exit(0)
        time.sleep(600)
        """
    ),
}

AVOID: dict[str, Files] = {
    "skip": _mod("import pytest\ndef add(a, b): pytest.skip('x')\n"),
    "skip at import": _mod("import pytest\npytest.skip('x', allow_module_level=True)\n"),
    "xfail": _mod("import pytest\ndef add(a, b): pytest.xfail('x')\n"),
    "SkipTest": _mod("import unittest\ndef add(a, b): raise unittest.SkipTest('x')\n"),
    "an AssertionError that skips": _mod(
        """
        import builtins, pytest
        builtins.AssertionError = pytest.skip.Exception
        def add(a, b): return a - b
        """
    ),
    "drop failing items in a conftest": {
        "conftest.py": "def pytest_collection_modifyitems(items): items[:] = [i for i in items if 'zero' in i.name]\n"
    },
    "collect only, by pytest.ini": {"pytest.ini": "[pytest]\naddopts = --collect-only\n"},
    "collect only, by pytest.toml": {"pytest.toml": "[pytest]\naddopts = ['--collect-only']\n"},
    "select by pyproject": {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k zero'\n"},
    "other test paths": {
        "pytest.ini": "[pytest]\ntestpaths = mine\n", "mine/test_ok.py": "def test_ok(): pass\n"
    },
    "exit status by conftest": {"conftest.py": _GREEN},
    "reports by conftest": {
        "conftest.py": dedent(
            """
            import pytest
            @pytest.hookimpl(hookwrapper=True)
            def pytest_runtest_makereport(item, call):
                outcome = yield
                report = outcome.get_result()
                report.outcome, report.longrepr = "passed", None
            """
        )
    },
    "conftest made while running": _with_bug(
        """
        import os
        os.makedirs("tests/deep", exist_ok=True) if os.access("tests", os.W_OK) else None
        try:
            open("conftest.py", "w").write("raise SystemExit(0)")
            open("tests/conftest.py", "w").write("raise SystemExit(0)")
        except OSError:
            pass
        """
    ),
    "a plugin by setup.cfg": {"setup.cfg": "[tool:pytest]\naddopts = -p evil\n", "evil.py": _GREEN},
    "entry point of a planted distribution": {
        "evil.py": _GREEN,
        "evil-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
        "evil-1.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
        "evil-1.dist-info/RECORD": "",
    },
}  # fmt: skip

SHADOW: dict[str, Files] = {
    "pytest.py": {"pytest.py": "import sys\nsys.exit(0)\n"},
    "a pluggy package": {"pluggy/__init__.py": "import os\nos._exit(0)\n"},
    "json.py": {"json.py": "import os\nos._exit(0)\n"},
    "hmac.py": {"hmac.py": "import os\nos._exit(0)\n"},
    "sitecustomize.py": {"sitecustomize.py": "import os\nos._exit(0)\n"},
    "usercustomize.py": {"usercustomize.py": "import os\nos._exit(0)\n"},
    "a .pth file": {"evil.pth": "import os; os._exit(0)\n"},
    "the judge's own package": {"inside/__init__.py": "", "inside/channel.py": "import os\nos._exit(0)\n"},
    "poisoned byte code": {f"__pycache__/mod.{sys.implementation.cache_tag}.pyc": _poisoned()},
    "poisoned byte code without source": {"mod.py": None, "mod.pyc": _poisoned()},  # type: ignore[dict-item]
    "overwritten tests": _with_bug(
        """
        import os
        for name in ("tests/test_mod.py", "tests/test_mod.py~"):
            try:
                open(name, "w").write("def test_add(): pass\\ndef test_neg(): pass\\n")
            except OSError:
                pass
        try:
            os.chmod("tests/test_mod.py", 0o666)
        except OSError:
            pass
        """
    ),
    "moved tests": _with_bug(
        """
        import os
        try:
            os.rename("tests", "tests.bak")
            os.mkdir("tests")
            open("tests/test_mod.py", "w").write("def test_add(): pass\\ndef test_neg(): pass\\n")
        except OSError:
            pass
        """
    ),
}

BEND: dict[str, Files] = {
    "runtest does nothing": _with_bug("import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"),
    "runtest does nothing for the tests it knows": _with_bug(
        f"""
        import _pytest.python
        run = _pytest.python.Function.runtest
        _pytest.python.Function.runtest = lambda self: None if self.name in {_NAMES!r} else run(self)
        """
    ),
    "reports forget the exception": _with_bug(
        """
        import _pytest.reports as r
        original = r.TestReport.from_item_and_call.__func__
        def from_item_and_call(cls, item, call):
            call.excinfo = None
            return original(cls, item, call)
        r.TestReport.from_item_and_call = classmethod(from_item_and_call)
        """
    ),
    "calls forget the exception": _with_bug(
        """
        import _pytest.runner as r
        original = r.CallInfo.from_call.__func__
        def from_call(cls, func, when, reraise=None):
            made = original(cls, func, when, reraise)
            made.excinfo = None
            return made
        r.CallInfo.from_call = classmethod(from_call)
        """
    ),
    "a session that never fails": _mod(
        """
        import gc
        def add(a, b):
            import _pytest.main as m
            for s in gc.get_objects():
                if isinstance(s, m.Session):
                    s.__class__ = type("S", (m.Session,), {"testsfailed": property(lambda s: 0, lambda s, v: None)})
            return a - b
        """
    ),
    "a plugin registered while running": _mod(
        """
        import gc
        class Evil:
            def pytest_runtest_logreport(self, report): report.outcome = "passed"
            def pytest_sessionfinish(self, session): session.exitstatus = 1
        def add(a, b):
            import _pytest.config as c
            for o in gc.get_objects():
                if isinstance(o, c.PytestPluginManager):
                    o.register(Evil())
            return a - b
        """
    ),
    "comparison is always true": _with_bug(
        "import _pytest.assertion.rewrite as r\nr.referee_agreed = lambda a, b: True\n"
    ),
    "the test's own code is replaced": _mod(
        f"""
        import sys
        def add(a, b):
            module = sys.modules.get("test_mod") or sys.modules.get("tests.test_mod")
            for name in {_NAMES!r}:
                getattr(module, name).__code__ = (lambda: None).__code__
            return {{(2, 3): 5}}.get((a, b), a - b)
        """
    ),
    "equal to everything, as a number": _mod(
        """
        class Yes(int):
            def __eq__(self, other): return True
            __hash__ = int.__hash__
        def add(a, b): return Yes(1)
        """
    ),
    "equal to everything, as an object": _mod(
        """
        class Yes:
            def __eq__(self, other): return bool(1)
            __hash__ = None
        def add(a, b): return Yes()
        """
    ),
    "equal to everything, made at run time": _mod(
        """
        def add(a, b):
            return type("Yes", (int,), {"__eq__": lambda self, other: not None, "__hash__": int.__hash__})(1)
        """
    ),
    "asks its caller, by frame": _mod(
        """
        import sys
        def add(a, b):
            caller = sys._getframe(1)
            return {"test_add": 5, "test_neg": -2}.get(caller.f_code.co_name, a - b)
        """
    ),
    "asks its caller, by inspect": _mod(
        """
        import inspect
        def add(a, b):
            name = inspect.currentframe().f_back.f_code.co_name
            return {"test_add": 5, "test_neg": -2}.get(name, a - b)
        """
    ),
    "asks its caller, by traceback": _mod(
        """
        def add(a, b):
            try:
                raise ValueError
            except ValueError as error:
                frame = getattr(error.__traceback__, "tb_" + "frame")
            name = getattr(frame, "f_" + "back").f_code.co_name
            return {"test_add": 5, "test_neg": -2}.get(name, a - b)
        """
    ),
    "reads the tests for the answers": _mod(
        """
        import re
        def add(a, b):
            text = open("tests/test_mod.py").read()
            found = re.search(r"add\\(%d, %d\\) == (-?\\d+)" % (a, b), text)
            return int(found[1])
        """
    ),
}

FORGE: dict[str, Files] = {
    "write to every descriptor": _mod(
        """
        import os
        for fd in range(3, 64):
            try: os.write(fd, b'{"outcome": "passed"}\\n')
            except OSError: pass
        os._exit(0)
        """
    ),
    "write unsigned frames and go on": _mod(
        """
        import os
        def add(a, b):
            for t in ("setup", "call", "teardown"):
                frame = b'[9, "phase", ["tests/test_mod.py::test_add", "%s", "passed", null, false, 0]]' % t.encode()
                os.write(4, b"0" * 64 + b" " + frame + b"\\n")
            return a - b
        """
    ),
    "close the channel": _mod("import os\ndef add(a, b):\n    os.close(4)\n    return a - b\n"),
    "point the channel elsewhere": _mod(
        "import os\ndef add(a, b):\n    os.dup2(os.open('/dev/null', os.O_WRONLY), 4)\n    return a - b\n"
    ),
    "read the key again": _mod(
        """
        import os
        def add(a, b):
            try: key = os.read(3, 32)
            except OSError: key = b""
            return 5 if len(key) == 32 else a - b
        """
    ),
    "hold descriptors in a child": _mod(
        """
        import subprocess, sys
        def add(a, b):
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], close_fds=False)
            return a - b
        """
    ),
    "patch the signature": _with_bug(
        """
        import hmac, json
        hmac.compare_digest = lambda a, b: True
        json.dumps = lambda *a, **k: '[0, "end", 1]'
        """
    ),
    "steal the channel from memory": _mod(
        """
        import gc, types
        def add(a, b):
            for f in gc.get_objects():
                if isinstance(f, types.FunctionType) and f.__qualname__ == "connect.<locals>.emit":
                    for when in ("setup", "call", "teardown"):
                        f("phase", ["tests/test_mod.py::test_add", when, "passed", None, False, 0])
            return a - b
        """
    ),
}

# Every object of a run can be reached from the import system's hooks.
_FOUND = """
import sys
def found():
    hook = next(h for h in sys.meta_path if hasattr(h, "session"))
    return hook, hook.session, hook.config
"""
REACH: dict[str, Files] = {
    "speak for the judge by its event": _mod(
        """
        import sys
        def add(a, b):
            for when in ("setup", "call", "teardown"):
                sys.audit("referee.report", "phase", ["tests/test_mod.py::test_add", when, "passed", None, False, 0])
            sys.audit("referee.report", "finish", {"exit": 1, "imports": {"own": [], "foreign": {}}})
            return a - b
        """
    ),
    "call the judge's own plugin": _mod(
        _FOUND
        + """
def add(a, b):
    hook, session, config = found()
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "Reporter":
            plugin.pytest_runtest_logstart("tests/test_mod.py::test_zero")
            plugin.pytest_runtest_makereport.__globals__["tell"]("end", 1)
    return a - b
"""
    ),
    "call it through a finalizer": _mod(
        _FOUND
        + """
import gc, weakref
class Gone: pass
def add(a, b):
    hook, session, config = found()
    plugin = next(p for p in config.pluginmanager.get_plugins() if type(p).__name__ == "Reporter")
    tell = plugin.pytest_runtest_makereport.__globals__["tell"]
    gone = Gone()
    for when in ("setup", "call", "teardown"):
        weakref.finalize(gone, tell, "phase", ["tests/test_mod.py::test_add", when, "passed", None, False, 0])
    del gone
    return a - b
"""
    ),
    "call it from code that says it is pytest": _mod(
        _FOUND
        + """
import _pytest.runner as posing
SAID = ["tests/test_mod.py::test_add", "call", "passed", None, False, 0]
TEXT = f"def add(a, b):\\n    tell('phase', {SAID})\\n    return a - b"
hook, session, config = found()
plugin = next(p for p in config.pluginmanager.get_plugins() if type(p).__name__ == "Reporter")
space = {"tell": plugin.pytest_runtest_makereport.__globals__["tell"]}
exec(compile(TEXT, posing.__file__, "exec"), space)
add = space["add"]
"""
    ),
    "replace what the plugin speaks with": _mod(
        _FOUND
        + """
def add(a, b):
    hook, session, config = found()
    plugin = next(p for p in config.pluginmanager.get_plugins() if type(p).__name__ == "Reporter")
    space = plugin.pytest_runtest_makereport.__globals__
    real = space["tell"]
    def tell(kind, body):
        if kind != "fail":
            real(kind, ["passed" if x == "failed" else None if x == "AssertionError" else x for x in body])
    space["tell"] = tell
    return a - b
"""
    ),
    "items that run nothing": _mod(
        _FOUND
        + f"""
def add(a, b):
    hook, session, config = found()
    for item in session.items:
        if item.name in {_NAMES!r}:
            item.runtest = lambda: None
    return 5 if a == 2 else a - b
"""
    ),
    "a hook slipped in": _mod(
        _FOUND
        + f"""
def add(a, b):
    hook, session, config = found()
    class Evil:
        def pytest_pyfunc_call(self, pyfuncitem):
            return True if pyfuncitem.name in {_NAMES!r} else None
    config.pluginmanager.register(Evil())
    return 5 if a == 2 else a - b
"""
    ),
    "a JSON encoder that lies": _with_bug(
        """
        import json, json.encoder
        real = json.encoder.JSONEncoder.encode
        json.encoder.JSONEncoder.encode = lambda s, o: real(s, o).replace("failed", "passed")
        json.encoder.c_make_encoder = None
        """
    ),
    "a signer that hands itself over": _with_bug(
        """
        import hashlib, hmac
        hmac.HMAC.copy = lambda self: self
        hashlib.sha256 = lambda *a: None
        """
    ),
    "builtins that agree": _with_bug(
        """
        import builtins
        real = builtins.isinstance
        builtins.isinstance = lambda o, k: False if k is AssertionError else real(o, k)
        """
    ),
}

CHEATS: dict[str, Files] = {
    f"{kind}: {name}": files
    for kind, group in (
        ("leave", LEAVE),
        ("avoid", AVOID),
        ("shadow", SHADOW),
        ("bend", BEND),
        ("forge", FORGE),
        ("reach", REACH),
    )
    for name, files in group.items()
}

HONEST: dict[str, Files] = {
    "plain": _mod(FIX),
    "library": _mod(
        """
        import collections, dataclasses, decimal, enum, functools, logging, subprocess, sys, threading, typing, warnings
        import contextlib, traceback, inspect, tempfile
        P = collections.namedtuple("P", "a b")
        class N(typing.NamedTuple):
            a: int
        @dataclasses.dataclass(order=True)
        class D:
            a: int
        class E(enum.Enum):
            A = 1
        log = logging.getLogger(__name__)
        log.warning("x")
        warnings.warn("w", stacklevel=2)
        open(__file__).read()
        subprocess.run(["true"], check=True)
        @functools.lru_cache
        def add(a: int, b: int) -> int:
            log.info("adding %s", a, stack_info=True)
            inspect.signature(P)
            with contextlib.suppress(ValueError):
                raise ValueError("x")
            try:
                raise KeyError(a)
            except KeyError:
                traceback.format_exc()
            worker = threading.Thread(target=print, args=("x",))
            worker.start()
            worker.join()
            with tempfile.TemporaryFile() as file:
                file.write(b"x")
            return int(decimal.Decimal(a) + b)
        """
    ),
    "own equality": _mod(
        """
        class Number:
            def __init__(self, value): self.value = value
            def __eq__(self, other):
                return self.value == (other.value if isinstance(other, Number) else other)
            __hash__ = None
        def add(a, b): return Number(a + b)
        """
    ),
    "a new helper module": {
        "mod.py": "from arithmetic import plus as add\n", "arithmetic.py": "def plus(a, b):\n    return a + b\n"
    },
    "writes beside itself": _mod(
        "def add(a, b):\n    with open('cache.txt', 'w') as file:\n        file.write('x')\n    return a + b\n"
    ),
}  # fmt: skip
