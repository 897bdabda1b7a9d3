"""Watches what the code under test reaches for: an audit hook that cannot be removed, and pytest's own functions.

It only tells. What counts, and what the unpatched tree already did, is decided outside.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Tell = Callable[[str, str], None]

_ALWAYS = frozenset(
    {
        "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._current_frames", "sys._current_exceptions",
        "sys.settrace", "sys.setprofile", "sys._getframe", "sys.addaudithook", "ctypes.cdata", "ctypes.cdata/buffer",
        "ctypes.string_at", "ctypes.wstring_at", "ctypes.PyObj_FromPtr", "ctypes.dlsym/handle",
    }
)  # fmt: skip
_SOMETIMES = frozenset({"open", "os.kill", "os.killpg", "os.listdir", "object.__getattr__", "object.__setattr__"})
_FRAMES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_back", "f_locals", "f_globals"})
_CORE = (
    "_pytest.python:Function.runtest", "_pytest.python:Function.setup", "_pytest.python:pytest_pyfunc_call",
    "_pytest.unittest:TestCaseFunction.runtest", "_pytest.runner:pytest_runtest_call", "_pytest.runner:runtestprotocol",
    "_pytest.runner:call_and_report", "_pytest.runner:CallInfo.from_call", "_pytest.runner:pytest_runtest_makereport",
    "_pytest.reports:TestReport.from_item_and_call", "_pytest.assertion.rewrite:referee_agreed",
    "unittest.case:TestCase.assertEqual", "unittest.case:TestCase.run", "unittest.case:TestCase._baseAssertEqual",
)  # fmt: skip


def _sensitive(event: str, args: tuple[Any, ...], judged: Callable[[str], bool]) -> bool:
    if event == "open":
        return isinstance(args[0], (str, bytes)) and judged(os.fsdecode(args[0]))
    if event == "os.listdir":
        return isinstance(args[0], str) and args[0].startswith("/proc/") and args[0].rstrip("/").endswith("/fd")
    if event in ("os.kill", "os.killpg"):
        return args[0] in (-1, 0, 1, os.getpid(), os.getppid())
    if event == "object.__getattr__":
        return args[1] in _FRAMES
    owner = getattr(args[0], "__module__", None) or ""
    code = getattr(args[0], "__code__", None) if isinstance(args[0], types.FunctionType) else None
    return str(owner).partition(".")[0] in ("_pytest", "pluggy", "pytest") or (
        code is not None and judged(code.co_filename)
    )


def watch(suspect: Callable[[str], bool], judged: Callable[[str], bool], tell: Tell) -> None:
    """Install the audit hook. `suspect(file)`: is it code under test; `judged(file)`: is it the judge's or a test."""
    frame_of, busy = sys._getframe, [False]
    seen: set[tuple[str, str]] = set()

    def culprit(event: str) -> str | None:
        frame: Any = frame_of(2)
        for _ in range(3):
            if frame is None:
                return None
            file = frame.f_code.co_filename
            if suspect(file):
                return str(file)
            # Honest library code looks at frames and tracebacks for its caller all the time (namedtuple, logging,
            # traceback); only `inspect` hands a frame through.
            if event in ("sys._getframe", "object.__getattr__") and not file.endswith("/inspect.py"):
                return None
            frame = frame.f_back
        return None

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if busy[0] or (event not in _ALWAYS and event not in _SOMETIMES):
            return
        busy[0] = True
        try:
            if event in _ALWAYS or _sensitive(event, args, judged):
                name = f"{event}:{args[1]}" if event == "object.__getattr__" else event
                file = culprit(event)
                if file is not None and (name, file) not in seen:
                    seen.add((name, file))
                    tell(name, file)
        finally:
            busy[0] = False

    sys.addaudithook(hook)


class Seal:
    """The identities of pytest's functions before any code under test ran."""

    def __init__(self) -> None:
        self._whole = list(_functions())
        self._ours: dict[str, Any] = {}
        self._core: list[tuple[str, Any]] = []

    def accept(self, own: Iterable[str]) -> None:
        """Take what the judge itself replaced, by name, as it is now, and look at the core from here on."""
        for name in own:
            self._ours[name] = _resolve(name)
        self._core = [(name, _resolve(name)) for name in _CORE]

    def broken(self, whole: bool) -> list[str]:
        """The names of functions that are not what they were; all of them, or only the few that run every test."""
        if not whole:
            return [name for name, was in self._core if _resolve(name) is not was]
        unlike = [
            (name, _code(owner.get(key))) for name, owner, key, was in self._whole if _code(owner.get(key)) is not was
        ]
        return [name for name, now in unlike if self._ours.get(name) is not now]


def _resolve(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = found.__dict__.get(part) if found is not None else None
    return _code(found)


def _code(member: Any) -> Any:
    plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
    return plain.__code__ if isinstance(plain, types.FunctionType) else plain


def _functions() -> Iterator[tuple[str, Any, str, Any]]:
    """Every function and method of pytest: its name, the namespace it lives in, its key there, its code."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in ("_pytest", "pluggy") or module is None:
            continue
        space = vars(module)
        for key, value in list(space.items()):
            if isinstance(value, types.FunctionType):
                yield f"{name}:{key}", space, key, value.__code__
            elif isinstance(value, type) and value.__module__ == name:
                own = vars(value)
                for attribute, member in list(own.items()):
                    code = _code(member)
                    if isinstance(code, types.CodeType):
                        yield f"{name}:{key}.{attribute}", own, attribute, code
