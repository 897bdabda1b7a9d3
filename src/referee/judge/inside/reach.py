"""Which functions of the repository ran for which test, which of its files were opened, and who started processes.

Fixtures that outlive a test are recorded by themselves and counted for every test that uses them; what runs while a
module is imported is told with that module. Of caches that answer for a function see `_forget`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.machinery
import linecache
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

READ = 0  # in place of a line: the file was opened
BY = "/by/"  # before "MODULE\0PATH": it was reached while that module was imported
STARTS, UNSURE = "/starts", "/unsure"  # in place of a path: it started a process; something else took our place
_TOOL = 3
_PROCESSES = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec", "os.system")
_LISTS = ("os.listdir", "os.scandir")
_OPENS = ("open", "sqlite3.connect")
_CACHE: Any = type(functools.lru_cache(lambda: None))
Seen = set[tuple[str, int]]


class Reach:
    """Collects (path, first line of a function) pairs; `take` hands over what the test that ends now has reached."""

    def __init__(self, root: str, inside: Callable[[str], bool]) -> None:
        self._root, self._inside = root, inside
        self._codes: dict[int, Any] = {}  # by identity: hashing code is slow, and equal code may lie elsewhere
        self._opened: list[tuple[str, str, Any]] = []  # what happened, in which folder, to what
        self._files: dict[str, str | None] = {}
        self._shared: dict[int, tuple[Any, Seen]] = {}
        self._now: Seen = set()
        self._item: Any = None
        self._monitoring: Any = None
        self._caches: list[Any] = []
        self._modules = 0  # how many there were when caches were last looked for

    def start(self) -> None:
        """Begin, with the cheapest means this interpreter has."""
        opened, heard, here = self._opened, frozenset((*_PROCESSES, *_LISTS, *_OPENS)), os.getcwd

        def hook(event: str, args: Any) -> None:
            if event not in heard:
                return
            name, folder = args[0] if args else None, ""
            if not (isinstance(name, str) and name.startswith("/")):
                with contextlib.suppress(OSError):  # the test may have removed the folder it is in
                    folder = here()
            opened.append((event, folder, name))

        sys.addaudithook(hook)
        for loader in (importlib.machinery.SourceFileLoader, AssertionRewritingHook):
            loader.exec_module = self._watching(loader.exec_module)  # type: ignore[method-assign]
        monitoring: Any = getattr(sys, "monitoring", None)
        if monitoring is not None and monitoring.get_tool(_TOOL) is None:
            self._monitoring = monitoring
            monitoring.use_tool_id(_TOOL, "referee")
            monitoring.register_callback(_TOOL, monitoring.events.PY_START, self._started)
            monitoring.set_events(_TOOL, monitoring.events.PY_START)
            return
        threading.settrace(self._called)
        sys.settrace(self._called)

    def take(self) -> dict[str, list[int]]:
        """What was reached since the last `take`, and by the longer-lived fixtures in use, by path from the root."""
        self._gather()
        reached, self._now = self._now, set()
        if self._item is not None:
            for _, seen in self._used(self._item):
                reached |= seen
        taken: dict[str, list[int]] = {}
        for path, line in sorted(reached):
            taken.setdefault(path, []).append(line)
        self._forget()
        return taken

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Know whose turn it is."""
        self._item = item
        yield
        self._item = None

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """What a fixture of a wider scope than one test reaches belongs to all who use it."""
        if fixturedef.scope == "function":
            yield
            return
        self._gather()
        outer, self._now = self._now, set()
        yield
        self._gather()
        _, seen = self._shared.setdefault(id(fixturedef), (fixturedef, set()))
        seen |= self._now
        self._now |= outer

    def _watching(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        def exec_module(loader: Any, module: Any) -> Any:
            name = self._of(getattr(module, "__file__", None) or "/")
            if name is None:
                return execute(loader, module)
            self._gather()
            outer, self._now = self._now, set()
            try:
                return execute(loader, module)
            finally:
                self._gather()
                self._now.discard((name, READ))  # by the import itself
                plain = {(path, line) for path, line in self._now if path[0] != "/"}
                self._now |= outer | {(f"{BY}{name}\0{path}", line) for path, line in plain}
                if self._item is None:  # a test depends on what it imports itself; collection does not
                    self._now -= plain - outer

        return exec_module

    def _used(self, item: Any) -> list[tuple[Any, Seen]]:
        request = getattr(item, "_request", None)
        definitions = getattr(request, "_fixture_defs", None)
        if not isinstance(definitions, dict):
            return list(self._shared.values())  # it cannot be told which, so all of them
        return [self._shared[id(d)] for d in definitions.values() if id(d) in self._shared]

    def _started(self, code: Any, offset: int) -> Any:
        self._codes[id(code)] = code
        return self._monitoring.DISABLE

    def _called(self, frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        self._codes[id(code)] = code

    def _gather(self) -> None:
        """Turn what was noted into places."""
        if self._monitoring is not None:
            self._monitoring.restart_events()
        elif getattr(sys.gettrace(), "__self__", None) is not self:
            self._now.add((UNSURE, READ))
            sys.settrace(self._called)
        for code in list(self._codes.values()):
            path = self._of(code.co_filename)
            if code.co_name == "_launch" and "/multiprocessing/" in code.co_filename:
                self._now.add((STARTS, READ))  # not every way of it is audited
            if path is not None:
                self._now.add((path, code.co_firstlineno))
        self._codes.clear()
        opened = self._opened[:]
        del self._opened[: len(opened)]
        for each in opened:
            self._now.update(self._touched(*each))

    def _touched(self, event: str, folder: str, name: Any) -> Seen:
        if event in _PROCESSES:
            return {(STARTS, READ)}
        if name is None or isinstance(name, int):
            if event in _OPENS:
                return set()
            name = "."
        try:
            file = os.path.normpath(os.path.join(folder, os.fsdecode(name)))
            paths = {self._of(file), self._of(os.path.realpath(file))}
        except (OSError, TypeError, ValueError):
            return set()
        return {(f"{p}/" if event in _LISTS else p, READ) for p in paths if p is not None}

    def _of(self, file: str) -> str | None:
        if file not in self._files:
            self._files[file] = os.path.relpath(file, self._root) if self._inside(file) else None
        return self._files[file]

    def _forget(self) -> None:
        """Empty the caches of the repository's own functions, or only the first test would be seen to need them."""
        for file in [f for f in linecache.cache if self._of(f) is not None]:
            del linecache.cache[file]
        if self._modules != len(sys.modules):
            self._modules = len(sys.modules)
            self._caches = [v for space in self._spaces() for v in map(_plain, list(space.values())) if _cached(v)]
        for cache in self._caches:
            cache.cache_clear()

    def _spaces(self) -> Iterator[Any]:
        """The namespaces of the repository's modules and of their classes."""
        for module in list(sys.modules.values()):
            space = vars(module) if isinstance(module, types.ModuleType) else {}
            file = space.get("__file__")
            if isinstance(file, str) and self._of(file) is not None:
                yield space
                yield from (vars(k) for k in list(space.values()) if issubclass(type(k), type))


def _plain(member: Any) -> Any:
    return member.__func__ if type(member) in (staticmethod, classmethod) else member


def _cached(value: Any) -> bool:
    return type(value) is _CACHE
