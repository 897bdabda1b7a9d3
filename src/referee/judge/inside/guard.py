"""The audit hook: the only way out for reports, and a watch on what the code under test reaches for.

The hook cannot be removed, and nothing refers to it: it is not among the objects that code under test can find
without being seen. It believes a report only if it comes from the judge's own code, called by pytest and not by
anybody else. What counts of what it tells, and what the unpatched tree already did, is decided outside.
"""

from __future__ import annotations

import _thread
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from operator import is_not
from typing import Any

from .channel import Emit
from .genuine import genuine
from .reading import reading
from .territory import Territory
from .voice import EVENT

_ALWAYS = frozenset(
    {
        "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._current_frames", "sys._current_exceptions",
        "sys.settrace", "sys.setprofile", "sys._getframe", "sys.addaudithook", "ctypes.cdata", "ctypes.cdata/buffer",
        "ctypes.string_at", "ctypes.wstring_at", "ctypes.PyObj_FromPtr", "ctypes.dlsym/handle", "ctypes.dlsym",
        "ctypes.dlopen", "marshal.loads",
    }
)  # fmt: skip
_SOMETIMES = frozenset(
    {
        "open", "os.kill", "os.killpg", "os.listdir", "object.__getattr__", "object.__setattr__", "compile",
        "code.__new__", "import", "subprocess.Popen", "os.posix_spawn", "os.exec",
    }
)  # fmt: skip
_FRAMES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_back", "f_locals", "f_globals"})
_MEMORY = frozenset({"ctypes", "_ctypes", "cffi", "_cffi_backend"})
# Library code that only does what its caller asks for.
_THROUGH = ("/linecache.py", "/tokenize.py", "/shutil.py", "/pathlib.py", "/codecs.py", "/fileinput.py", "/dis.py",
            "/inspect.py", "/ctypes/__init__.py", "/asyncio/base_tasks.py", "/subprocess.py", "/string.py",
            "/string/__init__.py")  # fmt: skip
_ACCUSING = frozenset({"tamper", "plugin", "met"})  # may come from anywhere: nobody gains by them
_CORE = (
    "_pytest.python:Function.runtest", "_pytest.python:Function.setup", "_pytest.python:pytest_pyfunc_call",
    "_pytest.unittest:TestCaseFunction.runtest", "_pytest.runner:pytest_runtest_call", "_pytest.runner:runtestprotocol",
    "_pytest.runner:call_and_report", "_pytest.runner:CallInfo.from_call", "_pytest.runner:pytest_runtest_makereport",
    "_pytest.reports:TestReport.from_item_and_call", "_pytest.runner:CallInfo.__init__",
    "_pytest.unittest:TestCaseFunction.addFailure", "_pytest.unittest:TestCaseFunction.addError",
    "_pytest.unittest:TestCaseFunction._addexcinfo", "_pytest.assertion.rewrite:_call_reprcompare",
    "unittest.case:TestCase.assertEqual", "unittest.case:TestCase.run", "unittest.case:TestCase._baseAssertEqual",
)  # fmt: skip

_learned: list[list[types.CodeType]] = []


def arm(emit: Emit, whose: Territory, base: types.FrameType, reads: bool) -> None:
    """Install the hook. Reports are believed from frames that lead to `base`, the frame of the run itself.

    `reads`: tell which files the tests themselves read.
    """
    busy: set[int] = set()
    believe, notice = _listener(emit, whose, base), _watcher(emit, whose)
    note_reading = reading(emit, whose) if reads else None
    event_of_ours, watched, ident = EVENT, _ALWAYS | _SOMETIMES, _thread.get_ident

    def hook(event: str, args: Any) -> None:
        if event == event_of_ours:
            believe(args)
        elif event in watched:
            me = ident()
            if me in busy:
                return
            busy.add(me)
            try:
                notice(event, args)
                if note_reading is not None and event == "open":
                    note_reading(args)
            finally:
                busy.discard(me)

    sys.addaudithook(hook)


def learn() -> None:
    """Know the judge's own code ahead: in a warm process, once for many runs."""
    _learned.append(_own_codes())


# Everything it needs is bound in it: anything looked up elsewhere could be replaced.
def _listener(emit: Emit, whose: Territory, base: types.FrameType) -> Callable[[Any], None]:  # noqa: C901
    codes = _learned.pop() if _learned else _own_codes()
    frame_of, accusing, kind_of = sys._getframe, _ACCUSING, type
    own, number, reporting, relative = frozenset(id(c) for c in codes), id, whose.reporting, whose.relative
    members, good = _grouped(_members()), set()
    each, differ, exact = map, is_not, str

    def leads(frame: Any) -> Any:
        """The first frame that must not be on the way to a report, or `base`."""
        while frame is not None and frame is not base:
            file = frame.f_code.co_filename
            if kind_of(file) is not exact:  # it could answer what it likes
                return frame
            if file not in good:
                if not reporting(file):
                    return frame
                good.add(file)
            frame = frame.f_back
        return frame

    def unlike() -> Iterator[str]:
        for space, keys, values, names in members:
            if True in each(differ, each(space.get, keys), values):
                for name, key, was in names:
                    if space.get(key) is not was:
                        yield name

    def believe(args: Any) -> None:
        kind, body = args
        frame: Any = frame_of(2)
        # By identity: equal code can be made by anybody. `codes` keeps the identities from being used again.
        if number(frame.f_code) in own and codes:
            if kind in accusing:
                emit(kind, body)
                return
            frame = leads(frame)
            if frame is base:
                if kind == "phase":  # not left to objects that a test run can reach
                    for name in unlike():
                        emit("tamper", ["patched", name])
                emit(kind, body)
                return
        if kind == "body":
            return  # a function that is named like a test and called by others; silence is enough to refuse a test
        emit("tamper", ["forged-report", "?" if frame is None else relative(frame.f_code.co_filename)])

    return believe


# One function with all it needs bound in it: anything looked up elsewhere could be replaced.
def _watcher(emit: Emit, whose: Territory) -> Callable[[str, Any], None]:  # noqa: C901
    frame_of, always, frames, function = sys._getframe, _ALWAYS, _FRAMES, types.FunctionType
    library, forbidden, relative, posing = whose.library, whose.forbidden, whose.relative, whose.posing
    decode, own, kind_of, text, attribute = os.fsdecode, (-1, 0, 1, os.getpid(), os.getppid()), isinstance, str, getattr
    normal = _plainly()
    disguised, memory, through, honest = whose.disguised, _MEMORY, _THROUGH, genuine(whose)
    direct = ("sys._getframe", "object.__getattr__", "import", "ctypes.dlopen")
    seen: set[tuple[str, str]] = set()

    def sensitive(event: str, args: Any) -> bool:
        if event == "open":
            return kind_of(args[0], (text, bytes)) and forbidden(decode(args[0]))
        if event == "os.listdir":
            return kind_of(args[0], text) and args[0].startswith("/proc/") and args[0].rstrip("/").endswith("/fd")
        if event in ("os.kill", "os.killpg"):
            return args[0] in own
        if event == "object.__getattr__":
            if args[1] == "__code__" and kind_of(args[0], function):  # what a test knows is among its constants
                code = args[0].__code__
                return code.co_name.startswith("test") and forbidden(code.co_filename)
            return args[1] in frames
        if event == "import":
            return args[0] in memory
        if event in ("subprocess.Popen", "os.posix_spawn", "os.exec"):  # another program that reads the tests
            words = args[1] if kind_of(args[1], (list, tuple)) else ()
            return any(kind_of(w, text) and forbidden(normal(w)) for w in words)
        if event in ("compile", "code.__new__"):
            return kind_of(args[1], text) and posing(args[1])
        owner = text(attribute(args[0], "__module__", None) or "")
        if owner.partition(".")[0] in ("_pytest", "pluggy", "pytest"):
            return True
        return kind_of(args[0], function) and forbidden(args[0].__code__.co_filename)

    def culprit(event: str) -> str | None:
        frame: Any = frame_of(3)
        left = 3
        while frame is not None and left:
            file = frame.f_code.co_filename
            generated = file.startswith("<") and not file.startswith("<frozen ")
            if not generated and not library(file):
                return relative(file)
            handed = generated or file.startswith("<frozen importlib") or file.endswith(through)
            # Honest library code looks at frames and tracebacks for its caller all the time (namedtuple, logging,
            # traceback), and loads what it needs; only `inspect` and its like hand through what they find.
            if event in direct and not handed:
                return None
            left -= not handed
            frame = frame.f_back
        return None

    def notice(event: str, args: Any) -> None:
        aimed = event in always or sensitive(event, args)
        if not aimed and (event != "open" or not kind_of(args[0], (text, bytes))):
            return
        file = culprit(event)
        if file is None or not (aimed or disguised(decode(args[0]))):
            return
        if event in ("compile", "marshal.loads") and honest(args, frame_of(2)):  # last: it reads a file
            return
        name = f"{event}:{args[1]}" if event == "object.__getattr__" else event
        if (name, file) not in seen:
            seen.add((name, file))
            emit("tamper", [name, file])

    return notice


def _plainly() -> Callable[[str], str]:
    """Paths as text without `.` and `..`, by means that nobody can replace."""
    split, join = str.split, "/".join

    def plainly(path: str) -> str:
        parts: list[str] = []
        for part in split(path, "/"):
            if part == "..":
                del parts[-1:]
            elif part != "." and (part or not parts):
                parts.append(part)
        return join(parts)

    return plainly


def _members() -> list[tuple[str, Any, str, Any]]:
    """What runs and judges tests: a name, the namespace it lives in, its key there, the object itself."""
    found = []
    for name in _CORE:
        module, _, path = name.partition(":")
        owner, _, key = path.rpartition(".")
        space: Any = vars(sys.modules[module]) if module in sys.modules else {}
        space = vars(space[owner]) if owner in space else space if not owner else {}
        found.append((name, space, key, space.get(key)))
    for name, loaded in list(sys.modules.items()):
        if name.startswith(__package__ + "."):
            space = vars(loaded)
            found += [(f"{name}:{k}", space, k, v) for k, v in list(space.items()) if callable(v)]
            made = space.get("_made", {})  # what tests compare with and say how they end
            found += [(f"{name}:{k}", made, k, v) for k, v in list(made.items())]
            kinds = [k for k in space.values() if isinstance(k, type) and k.__module__ == name]
            for kind in kinds:
                own = vars(kind)
                found += [(f"{name}:{kind.__name__}.{n}", own, n, m) for n, m in list(own.items())]
    return [m for m in found if m[2] not in ("__doc__", "__abstractmethods__", "_abc_impl")]


def _grouped(members: list[tuple[str, Any, str, Any]]) -> list[tuple[Any, Any, Any, Any]]:
    """By namespace: it, the keys, the values, and names with both; to be compared many at a time."""
    spaces: dict[int, tuple[Any, list[tuple[str, str, Any]]]] = {}
    for name, space, key, was in members:
        spaces.setdefault(id(space), (space, []))[1].append((name, key, was))
    return [(s, tuple(k for _, k, _ in found), tuple(w for *_, w in found), found) for s, found in spaces.values()]


def _own_codes() -> list[types.CodeType]:
    """Every function of this package, nested ones included."""
    package = __package__ + "."
    found: dict[int, types.CodeType] = {}
    waiting: list[Any] = [
        code
        for name, module in list(sys.modules.items())
        if name.startswith(package)
        for value in list(vars(module).values())
        for member in [value, *(vars(value).values() if isinstance(value, type) else ())]
        if isinstance(code := getattr(member, "__code__", None), types.CodeType)
    ]
    while waiting:
        code = waiting.pop()
        if code.co_filename.startswith(os.path.dirname(os.path.abspath(__file__))) and id(code) not in found:
            found[id(code)] = code
            waiting += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return list(found.values())


class Seal:
    """The identities of pytest's functions before any code under test ran."""

    def __init__(self) -> None:
        self._whole = list(_functions())
        self._ours: dict[str, Any] = {}
        self._core: list[tuple[str, Any]] = []
        self._links: list[tuple[Any, str, Any]] = []
        self._codes: list[tuple[Any, Any]] = []

    def accept(self, own: Iterable[str]) -> None:
        """Take what the judge itself replaced, by name, as it is now, and look at the core from here on."""
        for name in own:
            self._ours[name] = _resolve(name)
        self._core = [(name, _resolve(name)) for name in _CORE]
        self._links = list({(id(link[0]), link[1]): link for name in _CORE for link in _chain(name)}.values())
        plain = [getattr(was, "__func__", was) for _, _, was in self._links]
        self._codes = [(f, f.__code__) for f in plain if isinstance(f, types.FunctionType)]

    def broken(self, whole: bool) -> list[str]:
        """The names of functions that are not what they were; all of them, or only the few that run every test."""
        if not whole:
            # Nearly always nothing has changed, which is quick to see.
            if all(space.get(key) is was for space, key, was in self._links) and all(
                f.__code__ is code for f, code in self._codes
            ):
                return []
            return [name for name, was in self._core if _resolve(name) is not was]
        moved = [s for s in self._whole if s[1].get(s[2]) is not s[3] or s[4].__code__ is not s[5]]
        unlike = [(name, _code(owner.get(key)), was) for name, owner, key, _, _, was in moved]
        return [name for name, now, was in unlike if now is not was and self._ours.get(name) is not now]


def _chain(name: str) -> Iterator[tuple[Any, str, Any]]:
    """The steps from a module to a function: a namespace, the key there, what it holds."""
    module, _, path = name.partition(":")
    space: Any = sys.modules
    for key in (module, *path.split(".")):
        found = space.get(key)
        yield space, key, found
        if found is None:
            return
        space = vars(found)


def _resolve(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = found.__dict__.get(part) if found is not None else None
    return _code(found)


def _code(member: Any) -> Any:
    plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
    return plain.__code__ if isinstance(plain, types.FunctionType) else plain


def _functions() -> Iterator[tuple[str, Any, str, Any, types.FunctionType, types.CodeType]]:
    """Every function and method of pytest: its name, its namespace, its key and value there, the function, its code."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in ("_pytest", "pluggy") or module is None:
            continue
        space = vars(module)
        for key, value in list(space.items()):
            if isinstance(value, types.FunctionType):
                yield f"{name}:{key}", space, key, value, value, value.__code__
            elif isinstance(value, type) and value.__module__ == name:
                own = vars(value)
                for attribute, member in list(own.items()):
                    plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
                    if isinstance(plain, types.FunctionType):
                        yield f"{name}:{key}.{attribute}", own, attribute, member, plain, plain.__code__
