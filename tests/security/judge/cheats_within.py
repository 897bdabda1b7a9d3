"""Cheats that bend the test run from inside, forge its report, or reach for the judge."""

from __future__ import annotations

from buggy import NAMES, Files, mod, with_bug

BEND: dict[str, Files] = {
    "runtest does nothing": with_bug("import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"),
    "runtest does nothing for the tests it knows": with_bug(
        f"""
        import _pytest.python
        run = _pytest.python.Function.runtest
        _pytest.python.Function.runtest = lambda self: None if self.name in {NAMES!r} else run(self)
        """
    ),
    "reports forget the exception": with_bug(
        """
        import _pytest.reports as r
        original = r.TestReport.from_item_and_call.__func__
        def from_item_and_call(cls, item, call):
            call.excinfo = None
            return original(cls, item, call)
        r.TestReport.from_item_and_call = classmethod(from_item_and_call)
        """
    ),
    "calls forget the exception": with_bug(
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
    "a session that never fails": mod(
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
    "a plugin registered while running": mod(
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
    "a helper of the tests does nothing": mod(
        """
        import sys
        def add(a, b):
            module = sys.modules.get("test_mod") or sys.modules.get("tests.test_mod")
            module.same = print
            return a - b
        """
    ),
    "a built-in function is replaced": with_bug("import builtins\nbuiltins.abs = lambda x: 0\n"),
    "math is replaced": with_bug("import math\nmath.isclose = lambda *a, **k: True\n"),
    "a call that forgets its exception, once": mod(
        """
        import sys
        runner = sys.modules["_pytest.runner"]
        original = runner.CallInfo.__init__
        def add(a, b):
            def once(self, *args, **kwargs):
                kwargs["excinfo"] = None
                runner.CallInfo.__init__ = original
                original(self, *args, **kwargs)
            runner.CallInfo.__init__ = once
            return a - b
        """
    ),
    "the test's own code is replaced": mod(
        f"""
        import sys
        def add(a, b):
            module = sys.modules.get("test_mod") or sys.modules.get("tests.test_mod")
            for name in {NAMES!r}:
                getattr(module, name).__code__ = (lambda: None).__code__
            return {{(2, 3): 5}}.get((a, b), a - b)
        """
    ),
    "equal to everything, as a number": mod(
        """
        class Yes(int):
            def __eq__(self, other): return True
            __hash__ = int.__hash__
        def add(a, b): return Yes(1)
        """
    ),
    "equal to everything, as an object": mod(
        """
        class Yes:
            def __eq__(self, other): return bool(1)
            __hash__ = None
        def add(a, b): return Yes()
        """
    ),
    "equal to everything, made at run time": mod(
        """
        def add(a, b):
            return type("Yes", (int,), {"__eq__": lambda self, other: not None, "__hash__": int.__hash__})(1)
        """
    ),
    "asks its caller, by frame": mod(
        """
        import sys
        def add(a, b):
            caller = sys._getframe(1)
            return {"test_add": 5, "test_neg": -2}.get(caller.f_code.co_name, a - b)
        """
    ),
    "asks its caller, by inspect": mod(
        """
        import inspect
        def add(a, b):
            name = inspect.currentframe().f_back.f_code.co_name
            return {"test_add": 5, "test_neg": -2}.get(name, a - b)
        """
    ),
    "asks its caller, by traceback": mod(
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
    "reads the tests for the answers": mod(
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
    "write to every descriptor": mod(
        """
        import os
        for fd in range(3, 64):
            try: os.write(fd, b'{"outcome": "passed"}\\n')
            except OSError: pass
        os._exit(0)
        """
    ),
    "write unsigned frames and go on": mod(
        """
        import os
        def add(a, b):
            for t in ("setup", "call", "teardown"):
                frame = b'[9, "phase", ["tests/test_mod.py::test_add", "%s", "passed", null, false, 0]]' % t.encode()
                os.write(4, b"0" * 64 + b" " + frame + b"\\n")
            return a - b
        """
    ),
    "close the channel": mod("import os\ndef add(a, b):\n    os.close(4)\n    return a - b\n"),
    "point the channel elsewhere": mod(
        "import os\ndef add(a, b):\n    os.dup2(os.open('/dev/null', os.O_WRONLY), 4)\n    return a - b\n"
    ),
    "read the key again": mod(
        """
        import os
        def add(a, b):
            try: key = os.read(3, 32)
            except OSError: key = b""
            return 5 if len(key) == 32 else a - b
        """
    ),
    "hold descriptors in a child": mod(
        """
        import subprocess, sys
        def add(a, b):
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], close_fds=False)
            return a - b
        """
    ),
    "patch the signature": with_bug(
        """
        import hmac, json
        hmac.compare_digest = lambda a, b: True
        json.dumps = lambda *a, **k: '[0, "end", 1]'
        """
    ),
    "steal the channel from memory": mod(
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
    "speak for the judge by its event": mod(
        """
        import sys
        def add(a, b):
            for when in ("setup", "call", "teardown"):
                sys.audit("referee.report", "phase", ["tests/test_mod.py::test_add", when, "passed", None, False, 0])
            sys.audit("referee.report", "finish", {"exit": 1, "imports": {"own": [], "foreign": {}}})
            return a - b
        """
    ),
    "call the judge's own plugin": mod(
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
    "call it through a finalizer": mod(
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
    "call it from code that says it is pytest": mod(
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
    "speak under a library's name from its cached file": mod(
        _FOUND
        + """
import importlib.machinery, importlib.util, marshal
import _pytest.runner as posing
SAID = ["tests/test_mod.py::test_add", "call", "passed", None, False, 0]
TEXT = f"def add(a, b):\\n    tell('phase', {SAID})\\n    return a - b"
CODE = marshal.dumps(compile(TEXT, "<made>", "exec"))
class Loader(importlib.machinery.SourceFileLoader):
    def get_data(self, path):
        return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + CODE
hook, session, config = found()
plugin = next(p for p in config.pluginmanager.get_plugins() if type(p).__name__ == "Reporter")
space = {"tell": plugin.pytest_runtest_makereport.__globals__["tell"]}
exec(Loader("posing", posing.__file__).get_code("posing"), space)
add = space["add"]
"""
    ),
    "replace what the plugin speaks with": mod(
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
    "items that run nothing": mod(
        _FOUND
        + f"""
def add(a, b):
    hook, session, config = found()
    for item in session.items:
        if item.name in {NAMES!r}:
            item.runtest = lambda: None
    return 5 if a == 2 else a - b
"""
    ),
    "a hook slipped in": mod(
        _FOUND
        + f"""
def add(a, b):
    hook, session, config = found()
    class Evil:
        def pytest_pyfunc_call(self, pyfuncitem):
            return True if pyfuncitem.name in {NAMES!r} else None
    config.pluginmanager.register(Evil())
    return 5 if a == 2 else a - b
"""
    ),
    "a judge's plugin that sees nothing": mod(
        _FOUND
        + f"""
hook, session, config = found()
kind = type(next(p for p in config.pluginmanager.get_plugins() if type(p).__name__ == "Reporter"))
kind.check_seal = kind._check_spaces = kind._accuse = lambda *a, **k: None
function = sys.modules["_pytest.python"].Function
run = function.runtest
function.runtest = lambda self: None if self.name in {NAMES!r} else run(self)
def add(a, b): return a - b
"""
    ),
    "a JSON encoder that lies": with_bug(
        """
        import json, json.encoder
        real = json.encoder.JSONEncoder.encode
        json.encoder.JSONEncoder.encode = lambda s, o: real(s, o).replace("failed", "passed")
        json.encoder.c_make_encoder = None
        """
    ),
    "a signer that hands itself over": with_bug(
        """
        import hashlib, hmac
        hmac.HMAC.copy = lambda self: self
        hashlib.sha256 = lambda *a: None
        """
    ),
    "builtins that agree": with_bug(
        """
        import builtins
        real = builtins.isinstance
        builtins.isinstance = lambda o, k: False if k is AssertionError else real(o, k)
        """
    ),
}
