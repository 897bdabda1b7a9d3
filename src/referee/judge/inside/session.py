"""One pytest run under the judge's eyes, from a plan in JSON."""

# ruff: noqa: TID251 - pytest is told by the environment

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pathlib
import sys
import sysconfig
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import _pytest.config
import _pytest.runner
import pytest
from _pytest.fixtures import FixtureManager
from _pytest.nodes import Node

from . import canary, doubt, equality, guard, importing, sabotage
from . import reporter as reporting
from .callees import Callees
from .channel import Emit
from .disguise import Disguise
from .failure import Describer
from .lines import Lines
from .reach import Reach
from .territory import survey
from .voice import report

_USED = ("readline", "pdb", "doctest", "unittest.mock", "decimal", "asyncio")  # by pytest's plugins, or by many tests
_REPLACED = (
    "_pytest.assertion.rewrite:rewrite_asserts",
    "_pytest.assertion.rewrite:_rewrite_test",
    "_pytest.assertion.rewrite:_read_pyc",
    "_pytest.config:get_config",
    "_pytest.runner:_update_current_test_var",
)
_MOVED = 3  # lines
_UNFORKABLE = ("grpc", "jpype", "tensorflow")  # libraries with threads of their own that a fork leaves behind
_CANNOT_FORK = 75  # exit code; `plan` knows it
_hindrances: list[str] = []
_ready: list[Any] = []
_seals: list[guard.Seal] = []


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
    _hindrances.extend(f"a thread that was started on import ({t.name})" for t in threading.enumerate()[1:])
    _hindrances.extend(f"the library {name}" for name in _UNFORKABLE if name in sys.modules)
    equality.foresee(wanted.get("tests", ()), [canary.TEXT])
    reporting.know(_ready[-1].pluginmanager.get_plugins())
    guard.learn()
    _spare_fixtures()
    _seals.append(guard.Seal())
    gc.collect()
    gc.freeze()


def _configured(plugins: Sequence[str]) -> Any:
    blocked = [part for name in plugins if name.startswith("no:") for part in ("-p", name)]
    config = _pytest.config.get_config(blocked, None)
    for name in plugins:
        config.pluginmanager.consider_pluginarg(name)
    return config


def _spare_fixtures() -> None:
    """Spare each job the search for fixtures in pytest's own plugins: a stand-in holds those of a module, if any."""
    search, known = FixtureManager.parsefactories, {}

    def parsefactories(self: Any, *args: Any, **kwargs: Any) -> None:
        holder = kwargs.get("holder", args[0] if args else None)
        kind = holder if isinstance(holder, (type, types.ModuleType)) else type(holder)
        origin = str(getattr(kind, "__module__", None) or getattr(kind, "__name__", ""))
        # A node is not a plugin: pytest looks through it for the fixtures of the module it stands for.
        if not isinstance(holder, Node) and origin.startswith(("_pytest.", f"{__package__}.")):
            if kind not in known:
                known[kind] = _fixtures(kind)
            if not known[kind]:
                return
            if isinstance(kind, types.ModuleType):
                holder = types.ModuleType(kind.__name__)
                vars(holder).update(known[kind])
                args, kwargs = (holder, *args[1:]) if args else (), {**kwargs, **({} if args else {"holder": holder})}
        search(self, *args, **kwargs)

    FixtureManager.parsefactories = parsefactories  # type: ignore[method-assign]


def _fixtures(holder: Any) -> dict[str, Any]:
    """What of a plugin makes a fixture."""
    kinds = ("FixtureFunctionDefinition", "FixtureFunctionMarker")
    spaces = [vars(c) for c in holder.__mro__] if isinstance(holder, type) else [vars(holder)]
    members = [(n, v) for space in spaces for n, v in list(space.items())]
    return {n: v for n, v in members if type(v).__name__ in kinds or hasattr(v, "_pytestfixturefunction")}


def run(plan: Mapping[str, Any], line: tuple[Emit, Callable[[str], str]]) -> int:
    """Run the plan's tests, report, and leave without running anybody's exit handlers."""
    for hindrance in _hindrances:
        line[0]("unforkable", hindrance)
    if _hindrances:
        os._exit(_CANNOT_FORK)
    leave, flush = os._exit, (sys.stdout.flush, sys.stderr.flush)
    reporter, names, root = _prepared(plan, line, sys._getframe()), plan["names"], plan["root"]
    del line
    report("hello", {"python": sys.version.split()[0], "pytest": pytest.__version__, "prefix": sys.prefix})
    watching = [w for w in (reporter, reporter.lines) if w is not None]
    code = int(pytest.main(list(plan["args"]), plugins=watching))
    reporter.check_seal(whole=True)
    report("finish", {"exit": code, "imports": importing.imported(root, survey(plan).inside, names)})
    for each in flush:
        with contextlib.suppress(OSError, ValueError):
            each()
    report("end", code)
    leave(code)
    return code


def _prepared(plan: Mapping[str, Any], line: tuple[Emit, Callable[[str], str]], base: Any) -> reporting.Reporter:
    emit, derive = line
    os.chdir(plan["cwd"])
    sys.argv = ["pytest"]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    whose = survey(plan)
    config = _ready.pop() if _ready else _configured(plan["plugins"])
    _give_once(config, plan["args"])
    secret = type(f"Secret{derive('secret')}", (BaseException,), {})
    broken = {f"{plan['root']}/{path}": frozenset(lines) for path, lines in plan["broken"].items()}
    importing.ignore_bytecode(whose.inside, sabotage.compiler(broken, survey(plan).test, secret))
    importing.install(plan["names"], plan["paths"], whose.inside)
    honest = {(f"{plan['root']}/{path}", number) for path, number in plan["honest"]}
    disguise = _disguised(derive) if plan["disguise"] else None
    callees = Callees(survey(plan))
    equality.install(doubt.doubts(survey(plan), honest), callees, secret if plan["red"] else None, disguise)
    seal = _seals.pop() if _seals else guard.Seal()
    seal.accept(_REPLACED)
    canaries = [f"test_{derive(f'canary {n}')}" for n in range(plan["canaries"])]
    reporter = reporting.Reporter(whose, seal, canaries, Describer(plan["root"], whose.inside), plan["seconds"])
    # The guard has answers of its own: those of `whose` are within reach of the code under test.
    guard.arm(emit, survey(plan), base, plan["reads"])
    reporter.learn = callees.learn
    if plan["trace"] or plan["reach"]:
        root = plan["root"]
        reporter.lines = Reach(root, whose.inside) if plan["reach"] else Lines(root, whose.suspect)
        reporter.lines.start()
    for name in [n for n in sys.modules if n == __package__ or n.startswith(f"{__package__}.")]:
        del sys.modules[name]
    sys.modules["__main__"] = types.ModuleType("__main__")
    return reporter


def _disguised(derive: Callable[[str], str]) -> Disguise:
    """Other names for tests, and none in the environment."""
    _pytest.runner._update_current_test_var = lambda *_args, **_kwargs: None
    return Disguise(f"test_{derive('disguise')}", _MOVED)


def _give_once(config: Any, args: Sequence[str]) -> None:
    """Let `pytest.main` use a configuration made ahead, as if it had made it itself."""
    original = _pytest.config.get_config
    config.invocation_params = config.InvocationParams(args=tuple(args), plugins=None, dir=pathlib.Path.cwd())
    waiting = [config]

    def get_config(*a: Any, **k: Any) -> Any:
        return waiting.pop() if waiting else original(*a, **k)

    _pytest.config.get_config = get_config
