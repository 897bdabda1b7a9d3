"""The judge's own pytest plugin: every event that matters becomes a frame, as it happens."""

from __future__ import annotations

import random  # noqa: TID251 - to pin it
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from operator import is_not
from typing import Any

import pytest

from . import canary
from .equality import speaks
from .failure import Describer, clip, difference, shown
from .guard import Seal
from .lines import Lines
from .reach import Reach
from .spaces import Spaces
from .territory import Territory
from .voice import report as tell

_TAIL = 600
_SEED = random.seed
_OVERRIDES = frozenset(("runtest", "setup", "teardown", "ihook", "repr_failure"))
_HOOKS = (
    "pytest_runtest_protocol", "pytest_runtest_setup", "pytest_runtest_call", "pytest_runtest_teardown",
    "pytest_pyfunc_call", "pytest_runtest_makereport", "pytest_runtest_logreport", "pytest_sessionfinish",
)  # fmt: skip
_files_of: dict[int, tuple[Any, set[str]]] = {}  # by identity, with what keeps that from being used again


class Reporter:
    """Reports collection, phases, failures and deaths; plants the canaries."""

    def __init__(
        self, whose: Territory, seal: Seal, canaries: Sequence[str], describe: Describer, seconds: float
    ) -> None:
        self._whose, self._seal, self._canaries = whose, seal, canaries
        self._describe, self._seconds = describe, seconds
        self._compared: dict[str, Any] = {}
        self._told: set[str] = set()
        self._bodies: dict[str, Any] = {}
        self._spaces = Spaces(whose)
        self._hooked: list[Any] = []
        self.lines: Lines | Reach | None = None
        self.learn: Callable[[], None] = lambda: None

    def pytest_plugin_registered(self, plugin: Any, plugin_name: str) -> None:
        """A plugin from the workspace is told by its file: only what the unpatched tree has may be there."""
        known = _files_of.get(id(plugin))
        for file in _files(plugin) if known is None else known[1]:
            if self._whose.inside(file):
                tell("plugin", self._whose.relative(file))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Any:
        """After everybody else has had a say, the canaries go in."""
        yield
        canary.plant(items, self._canaries)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Modules that draw lots while they are imported draw the same ones every time."""
        self._seed()

    def _seed(self) -> None:
        """Every test begins with the same random numbers, in whatever company it runs."""
        _SEED(0)
        numbers = sys.modules.get("numpy.random")
        if numbers is not None:
            numbers.seed(0)

    def pytest_deselected(self, items: list[Any]) -> None:
        """Which tests options or plugins left out."""
        tell("deselected", [i.nodeid for i in items])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: Any) -> None:
        """The ids that will run."""
        tell("collected", [i.nodeid for i in session.items])
        for item in session.items:
            if item.get_closest_marker("flaky") is not None:
                tell("flaky", item.nodeid)
        self._bodies = {i.nodeid: _body(i) for i in session.items}
        tell("silent", [i.nodeid for i in session.items if not speaks(_body(i))])
        self._spaces.learn()
        self.learn()
        self._lines("")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Any:
        """A module that cannot be imported, or skips itself."""
        outcome = yield
        report = outcome.get_result()
        if report.outcome == "passed":
            return
        call = getattr(report, "call", None)
        error = call.excinfo.value if call is not None and call.excinfo is not None else None
        # pytest wraps what the module raised in an error of its own.
        if error is not None and type(error).__name__ == "CollectError":
            error = error.__cause__ or error.__context__ or error
        body: dict[str, Any] = {"id": collector.nodeid, "outcome": report.outcome, "text": clip(report.longrepr, 1_200)}
        if error is not None:
            body["error"] = self._describe.exception(error)
        tell("collect", body)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Told before the test runs, so that a death has a name."""
        self._compared.clear()
        self._seed()
        tell("start", nodeid)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        """A test that never ends fails where it is, instead of taking the whole run with it."""
        if not self._seconds or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
            outcome = yield
            tell("ran", [item.nodeid, outcome.excinfo is not None])
            return
        signal.signal(signal.SIGALRM, _alarm(self._seconds))
        # Again and again: a test may swallow the first.
        signal.setitimer(signal.ITIMER_REAL, self._seconds, 1.0)
        try:
            outcome = yield
            tell("ran", [item.nodeid, outcome.excinfo is not None])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def pytest_assertrepr_compare(self, op: str, left: Any, right: Any) -> None:
        """Keep what was compared last; pytest's own explanation stays as it is."""
        self._compared.clear()
        self._compared.update({"op": op, "left": shown(left), "right": shown(right)})
        if op == "==":
            self._compared["difference"] = difference(left, right)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """One frame per phase, from what the call raised and not only from what the report says."""
        raised = None if call.excinfo is None else call.excinfo.typename
        outcome = yield
        report = outcome.get_result()
        if report.failed and call.excinfo is not None and not isinstance(item, canary.Canary):
            tell("fail", self._failure(item, call, report))
        tell(
            "phase",
            [item.nodeid, call.when, report.outcome, raised, hasattr(report, "wasxfail"), int(report.duration * 1000)],
        )
        if call.when == "call":
            self._compared.clear()
        if call.when == "teardown":
            self._lines(item.nodeid)
            self._check_spaces(item.nodeid.partition("::")[0])
        if _body(item) is not self._bodies.get(item.nodeid) or _OVERRIDES & vars(item).keys():
            self._accuse("patched", item.nodeid)
        for name in self._strange_hooks(item.config.hook):
            self._accuse("hooked", name)
        self.check_seal(whole=False)

    def _accuse(self, event: str, what: str) -> None:
        if what not in self._told:
            self._told.add(what)
            tell("tamper", [event, what])

    def _strange_hooks(self, hooks: Any) -> list[str]:
        """Files of code under test among the functions that run and report tests."""
        codes = [
            getattr(each.function, "__code__", None) for name in _HOOKS for each in getattr(hooks, name).get_hookimpls()
        ]
        if len(codes) == len(self._hooked) and not any(map(is_not, codes, self._hooked)):
            return []  # they were looked at before
        self._hooked = codes
        files = [getattr(code, "co_filename", "") for code in codes]
        return [self._whose.relative(f) for f in files if self._whose.suspect(f)]

    def _failure(self, item: Any, call: Any, report: Any) -> dict[str, Any]:
        error = call.excinfo.value
        told = {"id": item.nodeid, "when": call.when, "error": self._describe.exception(error)}
        if isinstance(error, AssertionError) and self._compared:
            told["compared"] = dict(self._compared)
        odd = type(error).__module__.startswith("_pytest.") or "DocTest" in type(error).__name__
        if odd or not told["error"]["frames"]:
            told["text"] = clip(report.longreprtext, 1_200, 0.7)
        told["output"] = {k: clip(v, _TAIL, 0.9) for k, v in report.sections if v.strip()}
        return told

    def pytest_internalerror(self, excinfo: Any) -> None:
        """pytest itself, or a plugin, broke."""
        tell("internal", self._describe.exception(excinfo.value))

    def check_seal(self, whole: bool) -> None:
        """Tell which of pytest's functions are not what they were."""
        for name in self._seal.broken(whole):
            self._accuse("patched", name)
        if whole:
            self._check_spaces(None)

    def _check_spaces(self, module: str | None) -> None:
        for name in self._spaces.bent(module):
            self._accuse("patched", name)

    def _lines(self, test: str) -> None:
        if self.lines is not None:
            tell("lines", [test, self.lines.take()])


def _alarm(seconds: float) -> Callable[[int, Any], None]:
    def too_long(number: int, frame: Any) -> None:
        pytest.fail(f"the test ran longer than {seconds:g} seconds")

    return too_long


def _body(item: Any) -> Any:
    """The code a test item will run, as far as it is plain Python."""
    function = getattr(item, "obj", None)
    return getattr(getattr(function, "__func__", function), "__code__", None)


def know(plugins: Iterable[Any]) -> None:
    """Know ahead where plugins come from: in a warm process, once for many runs."""
    _files_of.update({id(p): (p, _files(p)) for p in plugins})


def _files(plugin: Any) -> set[str]:
    """The files a plugin comes from: its own, its class's, its hooks'."""
    files = {getattr(plugin, "__file__", None)}
    files.add(getattr(sys.modules.get(type(plugin).__module__), "__file__", None))
    for name in dir(plugin):
        if name.startswith("pytest_"):
            code = getattr(getattr(plugin, name, None), "__code__", None)
            files.add(getattr(code, "co_filename", None))
    return {f for f in files if isinstance(f, str)}
