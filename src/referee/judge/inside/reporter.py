"""The judge's own pytest plugin: every event that matters becomes a frame, as it happens."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from . import canary
from .channel import Emit
from .failure import Describer, clip, difference, shown
from .guard import Seal
from .lines import Lines

_TAIL = 600


class Reporter:
    """Reports collection, phases, failures and deaths; plants the canaries."""

    def __init__(
        self, emit: Emit, describe: Describer, seal: Seal, canaries: Sequence[str], located: Callable[[Any], str | None]
    ) -> None:
        self._emit, self._describe, self._seal, self._canaries = emit, describe, seal, canaries
        self._located = located
        self._compared: dict[str, Any] = {}
        self._told: set[str] = set()
        self.lines: Lines | None = None
        self.seconds = 0.0

    def pytest_plugin_registered(self, plugin: Any, plugin_name: str) -> None:
        """A plugin from the workspace is told by its file: only what the unpatched tree has may be there."""
        file = self._located(plugin)
        if file is not None:
            self._emit("plugin", file)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Any:
        """After everybody else has had a say, the canaries go in."""
        yield
        canary.plant(items, self._canaries)

    def pytest_deselected(self, items: list[Any]) -> None:
        """Which tests options or plugins left out."""
        self._emit("deselected", [i.nodeid for i in items])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: Any) -> None:
        """The ids that will run."""
        self._emit("collected", [i.nodeid for i in session.items])
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
        self._emit("collect", body)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Told before the test runs, so that a death has a name."""
        self._compared.clear()
        self._emit("start", nodeid)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        """A test that never ends fails where it is, instead of taking the whole run with it."""
        if not self.seconds or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
            yield
            return
        signal.signal(signal.SIGALRM, self._too_long)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def _too_long(self, number: int, frame: Any) -> None:
        pytest.fail(f"the test ran longer than {self.seconds:g} seconds")

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
        if report.failed and call.excinfo is not None:
            self._emit("fail", self._failure(item, call, report))
        self._emit(
            "phase",
            [item.nodeid, call.when, report.outcome, raised, hasattr(report, "wasxfail"), int(report.duration * 1000)],
        )
        if call.when == "call":
            self._compared.clear()
        if call.when == "teardown":
            self._lines(item.nodeid)
        self.check_seal(whole=False)

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
        self._emit("internal", self._describe.exception(excinfo.value))

    def check_seal(self, whole: bool) -> None:
        """Tell which of pytest's functions are not what they were."""
        for name in self._seal.broken(whole):
            if name not in self._told:
                self._told.add(name)
                self._emit("tamper", ["patched", name])

    def _lines(self, test: str) -> None:
        if self.lines is not None:
            self._emit("lines", [test, self.lines.take()])
