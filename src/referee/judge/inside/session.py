"""One pytest run under the judge's eyes, from a plan in JSON."""

# ruff: noqa: TID251 - pytest is told by the environment

from __future__ import annotations

import gc
import importlib
import os
import pathlib
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import _pytest.config
import pytest
from _pytest.fixtures import FixtureManager

from . import equality, guard, importing
from .channel import Emit
from .failure import Describer
from .lines import Lines
from .reporter import Reporter

_JUDGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_SECRETS = ("/mem", "/environ", "/maps", "/syscall")
_USED = ("readline", "pdb", "doctest", "unittest.mock", "decimal", "asyncio")  # by pytest's plugins, or by many tests
_REPLACED = (
    "_pytest.assertion.rewrite:rewrite_asserts",
    "_pytest.assertion.rewrite:_read_pyc",
    "_pytest.config:get_config",
)
_ready: list[Any] = []
_seals: list[guard.Seal] = []
_exit = os._exit


class Where:
    """Whose file is this: the code under test's, the tests', or somebody else's."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self._root = plan["root"] + os.sep
        self._others = tuple(p + os.sep for p in (sys.prefix, *plan["outside"]) if p.startswith(self._root))
        self._folders = tuple(self._root + p + os.sep for p in plan["tests"])
        self._files = frozenset(self._root + p for p in plan["tests"])
        self._touched = frozenset(self._root + p for p in plan["touched"])

    def inside(self, file: str) -> bool:
        """Is the file the repository's own?"""
        return (file + os.sep).startswith(self._root) and not (file + os.sep).startswith(self._others)

    def test(self, file: str) -> bool:
        """Is it a protected file of the repository: a test, or what steers tests?"""
        return file in self._files or file.startswith(self._folders)

    def suspect(self, file: str) -> bool:
        """Is it code under test?"""
        return self.inside(file) and not self.test(file)

    def touched(self, file: str) -> bool:
        """Did the patch write it?"""
        return file in self._touched

    def judged(self, file: str) -> bool:
        """Is it something code under test has no business reading?"""
        path = file if file.startswith("/") else os.path.join(self._root, file)
        if path.startswith("/proc/"):
            return path.endswith(_SECRETS) or "/fd/" in path
        return path.startswith(_JUDGE) or (path.endswith(".py") and self.test(path))

    def located(self, plugin: Any) -> str | None:
        """The path, relative to the root, of a pytest plugin that comes from the repository."""
        file = getattr(plugin, "__file__", None)
        if not isinstance(file, str):
            module = sys.modules.get(type(plugin).__module__)
            file = getattr(module, "__file__", None)
        return os.path.relpath(file, self._root) if isinstance(file, str) and self.inside(file) else None


def warm_up(wanted: Mapping[str, Any]) -> None:
    """Import ahead what every job needs: pytest's plugins and third-party modules, never the workspace's."""
    if not wanted:
        return
    for name in _USED:
        importlib.import_module(name)
    _ready.append(_configured(wanted["plugins"]))
    root = wanted["root"] + os.sep
    libraries = {sysconfig.get_path("purelib") + os.sep, sysconfig.get_path("platlib") + os.sep}
    for name in wanted.get("modules", ()):
        before = set(sys.modules)
        try:
            importlib.import_module(name)
        except Exception:  # noqa: S112 - the job meets the same failure, and reports it
            continue
        fresh = set(sys.modules) - before
        files = [str(getattr(sys.modules[n], "__file__", None) or "") for n in fresh]
        if any(f.startswith(root) and not f.startswith(tuple(libraries)) for f in files):
            for n in fresh:
                del sys.modules[n]
    _skip_fixtureless()
    _seals.append(guard.Seal())
    gc.collect()
    gc.freeze()


def _configured(plugins: Sequence[str]) -> Any:
    blocked = [part for name in plugins if name.startswith("no:") for part in ("-p", name)]
    config = _pytest.config.get_config(blocked, None)
    for name in plugins:
        config.pluginmanager.consider_pluginarg(name)
    return config


def _skip_fixtureless() -> None:
    """Spare each job the search for fixtures in those of pytest's own plugins that have none."""
    search, known = FixtureManager.parsefactories, {}

    def parsefactories(self: Any, *args: Any, **kwargs: Any) -> None:
        holder = kwargs.get("holder", args[0] if args else None)
        kind = holder if isinstance(holder, (type, type(os))) else type(holder)
        origin = str(getattr(kind, "__module__", None) or getattr(kind, "__name__", ""))
        if origin.startswith(("_pytest.", __package__ + ".")):
            if kind not in known:
                known[kind] = _has_fixture(kind)
            if not known[kind]:
                return
        search(self, *args, **kwargs)

    FixtureManager.parsefactories = parsefactories  # type: ignore[method-assign]


def _has_fixture(holder: Any) -> bool:
    kinds = ("FixtureFunctionDefinition", "FixtureFunctionMarker")
    spaces = [vars(c) for c in holder.__mro__] if isinstance(holder, type) else [vars(holder)]
    values = [v for space in spaces for v in list(space.values())]
    return any(type(v).__name__ in kinds or hasattr(v, "_pytestfixturefunction") for v in values)


def run(plan: Mapping[str, Any], line: tuple[Emit, Callable[[str], str]]) -> int:
    """Run the plan's tests, report, and leave without running anybody's exit handlers."""
    emit, derive = line
    where = Where(plan)
    emit("hello", {"python": sys.version.split()[0], "pytest": pytest.__version__, "prefix": sys.prefix})
    reporter = _prepared(plan, emit, derive, where)
    code = int(pytest.main(list(plan["args"]), plugins=[reporter]))
    reporter.check_seal(whole=True)
    names = plan["names"]
    emit("finish", {"exit": code, "imports": importing.imported(plan["root"], where.inside, names)})
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    emit("end", code)
    _exit(code)
    return code


def _prepared(plan: Mapping[str, Any], emit: Emit, derive: Callable[[str], str], where: Where) -> Reporter:
    os.chdir(plan["root"])
    sys.argv = ["pytest"]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    config = _ready.pop() if _ready else _configured(plan["plugins"])
    _give_once(config, plan["args"])
    importing.ignore_bytecode(where.inside)
    importing.install(plan["names"], plan["paths"], where.inside)

    def tell(event: str, file: str) -> None:
        emit("tamper", [event, file])

    honest = {(f"{plan['root']}/{path}", number) for path, number in plan["honest"]}
    equality.install(equality.Agreement(where.touched, honest, tell))
    own = Describer(plan["root"], where.inside)
    seal = _seals.pop() if _seals else guard.Seal()
    seal.accept(_REPLACED)
    canaries = [f"test_{derive(f'canary {n}')}" for n in range(plan["canaries"])]
    reporter = Reporter(emit, own, seal, canaries, where.located)
    reporter.seconds = plan["seconds"]
    if plan["trace"]:
        reporter.lines = Lines(plan["root"], where.suspect)
        reporter.lines.start()
    else:
        guard.watch(where.suspect, where.judged, tell)
    return reporter


def _give_once(config: Any, args: Sequence[str]) -> None:
    """Let `pytest.main` use a configuration made ahead, as if it had made it itself."""
    original = _pytest.config.get_config
    config.invocation_params = config.InvocationParams(args=tuple(args), plugins=None, dir=pathlib.Path.cwd())
    waiting = [config]

    def get_config(*a: Any, **k: Any) -> Any:
        return waiting.pop() if waiting else original(*a, **k)

    _pytest.config.get_config = get_config
