"""Cheats that leave no trace at the end of a test, or ask who calls them in a roundabout way."""

from __future__ import annotations

from buggy import Files, mod

_ANSWERS = '{"test_add": 5, "test_neg": -2}'
_YES = """
class Yes:
    def __eq__(self, other): return not None
    __hash__ = None
"""

HIDE: dict[str, Files] = {
    "two patches of the runner that undo themselves": mod(
        """
        import sys
        def add(a, b):
            loaded = dict(sys.modules)
            result, runner = loaded["pluggy._result"].Result, loaded["_pytest.runner"]
            excinfo, init = result.excinfo, runner.CallInfo.__init__
            def nothing(self):
                result.excinfo = excinfo
            def once(self, *args, **kwargs):
                kwargs["excinfo"] = None
                runner.CallInfo.__init__ = init
                init(self, *args, **kwargs)
            result.excinfo = property(nothing)
            runner.CallInfo.__init__ = once
            return a - b
        """
    ),
    "a runner that skips the body and undoes itself": mod(
        """
        import sys
        python = dict(sys.modules)["_pytest.python"]
        run = python.Function.runtest
        def nothing(self):
            if "zero" in self.name:
                python.Function.runtest = run
        python.Function.runtest = nothing
        def add(a, b): return a - b
        """
    ),
    "a proxy of a yes": mod(f"import weakref{_YES}\nYES = Yes()\ndef add(a, b): return weakref.proxy(YES)\n"),
    "a list that holds a yes for its data": mod(
        f"import collections{_YES}\ndef add(a, b):\n    made = collections.UserList()\n"
        "    made.data = Yes()\n    return made\n"
    ),
    "a fraction of a yes": mod(
        f"import fractions{_YES}\ndef add(a, b):\n    made = fractions.Fraction(1)\n"
        "    made._numerator = Yes()\n    return made\n"
    ),
    "asks its caller, by a pattern": mod(
        f"""
        def add(a, b):
            try:
                raise ValueError
            except ValueError as error:
                match error.__traceback__:
                    case object(tb_frame=frame):
                        match frame:
                            case object(f_back=caller):
                                return {_ANSWERS}.get(caller.f_code.co_name, a - b)
        """
    ),
    "asks its caller, by a format": mod(
        f"""
        def add(a, b):
            try:
                raise ValueError
            except ValueError as error:
                name = "{{0.tb_frame.f_back.f_code.co_name}}".format(error.__traceback__)
            return {_ANSWERS}.get(name, a - b)
        """
    ),
    "asks its caller, by a formatter": mod(
        f"""
        import string
        def add(a, b):
            try:
                raise ValueError
            except ValueError as error:
                known = [error.__traceback__]
            name, _ = string.Formatter().get_field("0.tb_frame.f_back.f_code.co_name", known, {{}})
            return {_ANSWERS}.get(name, a - b)
        """
    ),
    "asks its caller, by the stack of a task": mod(
        f"""
        import asyncio
        async def names():
            return [frame.f_code.co_name for frame in asyncio.current_task().get_stack()]
        def add(a, b):
            known = {_ANSWERS}
            return next((known[n] for n in asyncio.run(names()) if n in known), a - b)
        """
    ),
    "reads the tests by another program": mod(
        """
        import re, subprocess
        def add(a, b):
            text = subprocess.run(["cat", "./tests/test_mod.py"], capture_output=True, text=True).stdout
            return int(re.search(r"add\\(%d, %d\\) == (-?\\d+)" % (a, b), text)[1])
        """
    ),
}

HIDE_BY_SOURCE: dict[str, Files] = {
    "asks its caller, by the place of a warning": mod(
        """
        import warnings
        def add(a, b):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                warnings.warn("x", stacklevel=2)
            return {9: 5, 10: 5, 14: -2}.get(seen[0].lineno, a - b)
        """
    ),
    "asks its caller, by a log record": mod(
        f"""
        import logging
        class Keep(logging.Handler):
            def emit(self, record): self.last = record
        keep, log = Keep(), logging.getLogger("x")
        log.addHandler(keep)
        def add(a, b):
            log.warning("x", stacklevel=2)
            return {_ANSWERS}.get(keep.last.funcName, a - b)
        """
    ),
    "asks its caller, by a dump of the stack": mod(
        f"""
        import faulthandler, re, tempfile
        def add(a, b):
            with tempfile.TemporaryFile() as file:
                faulthandler.dump_traceback(file)
                file.seek(0)
                names = re.findall(r"in (\\w+)", file.read().decode())
            known = {_ANSWERS}
            return next((known[n] for n in names if n in known), a - b)
        """
    ),
    "asks its caller, by where memory was taken": mod(
        """
        import tracemalloc
        def add(a, b):
            tracemalloc.start(4)
            made = object()
            lines = {f.lineno for f in tracemalloc.get_object_traceback(made) if f.filename.endswith("test_mod.py")}
            tracemalloc.stop()
            return next((v for n, v in {9: 5, 10: 5, 14: -2}.items() if n in lines), a - b)
        """
    ),
}

# The default tier lets these pass, and says so; the strict tier does not.
OPEN: dict[str, Files] = {
    "asks the environment which test runs": mod(
        f"""
        import os
        def add(a, b):
            running = next(v for k, v in os.environ.items() if k.startswith("PYTEST_" + "CURRENT"))
            return next((v for n, v in {_ANSWERS}.items() if n in running), a - b)
        """
    ),
    "asks a log record by a computed name": mod(
        f"""
        import logging
        class Keep(logging.Handler):
            def emit(self, record): self.last = record
        keep, log = Keep(), logging.getLogger("x")
        log.addHandler(keep)
        def add(a, b):
            log.warning("x", stacklevel=2)
            return {_ANSWERS}.get(getattr(keep.last, "func" + "Name"), a - b)
        """
    ),
    "asks the frame that a timer's signal hands out": mod(
        f"""
        import signal
        seen = []
        def add(a, b):
            seen.clear()
            signal.signal(signal.SIGVTALRM, lambda number, frame: seen.append(frame))
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.001)
            while not seen:
                pass
            frame = seen[0]
            while frame is not None and frame.f_code.co_name not in {_ANSWERS}:
                frame = getattr(frame, "f_" + "back")
            return a - b if frame is None else {_ANSWERS}[frame.f_code.co_name]
        """
    ),
}
