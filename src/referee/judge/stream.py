"""What the inside reported, once its signatures and its completeness are verified."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from referee.domain.value import Value

CANARIES = 2


class Phase(Value):
    """One phase of one test: what the report said, and what was really raised."""

    when: str
    outcome: str
    raised: str | None
    xfail: bool
    duration_ms: int

    @property
    def passed(self) -> bool:
        """Passed without an exception and without being expected to fail."""
        return self.outcome == "passed" and self.raised is None and not self.xfail


class Report(Value):
    """A verified stream. `broken` says why it cannot be believed to the end; None if it is whole.

    `met` are tests in which something ran that the judge had broken; `silent` ones cannot say how they ended. `reads`
    are files that tests themselves read, `unforkable` says why a warm process cannot be forked.
    """

    broken: str | None = None
    begun: bool = False
    ended: int | None = None
    collected: tuple[str, ...] | None = None
    deselected: tuple[str, ...] = ()
    started: tuple[str, ...] = ()
    phases: Mapping[str, tuple[Phase, ...]] = {}
    failures: tuple[Mapping[str, Any], ...] = ()
    collection: tuple[Mapping[str, Any], ...] = ()
    internal: tuple[Mapping[str, Any], ...] = ()
    tampering: tuple[tuple[str, str], ...] = ()
    plugins: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    foreign: Mapping[str, str] = {}
    flaky: tuple[str, ...] = ()
    lines: tuple[tuple[str, Mapping[str, tuple[int, ...]]], ...] = ()
    canaries: Mapping[str, tuple[Phase, ...]] = {}
    met: tuple[str, ...] = ()
    silent: frozenset[str] = frozenset()
    reads: tuple[str, ...] = ()
    unforkable: tuple[str, ...] = ()

    def outcome(self, test: str) -> str:
        """`passed`, `failed`, `error` (not in the call), `skipped`, `xfailed`, `xpassed` or `missing`; worst wins."""
        phases = self.phases.get(test, ())
        if any(p.outcome == "failed" for p in phases):
            return "failed" if any(p.outcome == "failed" and p.when == "call" for p in phases) else "error"
        if any(p.outcome == "skipped" for p in phases):
            return "xfailed" if any(p.xfail for p in phases) else "skipped"
        if {p.when for p in phases} != {"setup", "call", "teardown"}:
            return "missing"
        if any(p.xfail for p in phases):
            return "xpassed"
        return "passed" if all(p.passed for p in phases) else "failed"

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of every test that was collected or seen."""
        return {test: self.outcome(test) for test in dict.fromkeys((*(self.collected or ()), *self.phases))}

    @property
    def slow(self) -> tuple[str, ...]:
        """Tests that the limit for one test ended."""
        return tuple(f["id"] for f in self.failures if "ran longer than" in str(f["error"]["message"]))

    @property
    def unfinished(self) -> str | None:
        """The test that had begun last and has no end; None if all ended."""
        last = self.started[-1] if self.started else None
        done = last is not None and any(p.when == "teardown" for p in self.phases.get(last, ()))
        return None if done else last


def read(channel: bytes, key: bytes) -> Report:
    """Verify and sort the frames. Nothing after the first frame that does not verify is believed."""
    names = tuple(f"test_{_sign(key, f'name:canary {n}'.encode())[:10]}" for n in range(CANARIES))
    gathered = _Gathered(names)
    broken: str | None = None
    try:
        for kind, body in frames(channel, key):
            gathered.take(kind, body)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        broken = f"the report was forged or damaged ({error})"
    return gathered.report(broken)


def _sign(key: bytes, data: bytes) -> str:
    return hmac.new(key, data, hashlib.sha256).hexdigest()


def frames(channel: bytes, key: bytes) -> Iterator[tuple[str, Any]]:
    """The signed frames, in order. Raises `ValueError` at the first that is forged, lost or cut off."""
    *lines, rest = channel.split(b"\n")
    for n, line in enumerate(lines):
        mac, _, data = line.partition(b" ")
        if not hmac.compare_digest(mac, _sign(key, data).encode()):
            raise ValueError(f"frame {n} is not signed by the judge")
        number, kind, body = json.loads(data)
        if number != n:
            raise ValueError(f"frame {n} carries the number {number}")
        yield kind, body
    if rest:
        raise ValueError("the last frame is cut off")


class _Gathered:
    def __init__(self, canaries: Sequence[str]) -> None:
        self._names = canaries
        self._lists: dict[str, list[Any]] = {}
        self._phases: dict[str, list[Phase]] = {}
        self._raising: set[str] = set()  # tests whose call was seen to raise, before pytest made a report of it
        self._now = ""  # the test that runs
        self._words: list[str] = []  # what its body said of its end
        self._met: list[str] = []
        self._silent: set[str] | None = None  # tests that cannot say how they ended, once that is told

    def _canary(self, test: str) -> bool:
        return test.rpartition("::")[2] in self._names

    def take(self, kind: str, body: Any) -> None:
        if kind == "ran":
            self._raising.update(body[:1] if body[1] else ())
        elif kind in ("body", "met", "silent"):
            self._hear(kind, body)
        elif kind == "phase":
            test, when, outcome, raised, xfail, duration = body
            if when == "call" and outcome == "passed" and raised is None and test in self._raising:
                raised = "an exception that its report leaves out"
                self._lists.setdefault("tamper", []).append(["patched", f"the outcome of {test}"])
            made = Phase(when=when, outcome=outcome, raised=raised, xfail=xfail, duration_ms=duration)
            self._phases.setdefault(test, []).append(made)
            if when == "setup":
                self._words = []  # a test that is tried again has one more chance to say how it ended
            elif when == "teardown":
                self._believe(test)
        elif kind in ("start", "fail") and self._canary(self._begin(body) if kind == "start" else body["id"]):
            return
        elif kind in ("collected", "deselected"):
            self._lists.setdefault(kind, []).extend(i for i in body if not self._canary(i))
        else:
            self._lists.setdefault(kind, []).append(body)

    def _begin(self, test: str) -> str:
        self._now, self._words = test, []
        return test

    def _hear(self, kind: str, body: Any) -> None:
        """What was told from within a test that runs, or of those that will tell nothing."""
        if kind == "body":
            self._words.append(body)
        elif kind == "met":
            self._met.append(self._now)
        else:
            self._silent = {*(self._silent or ()), *body}

    def _believe(self, test: str) -> None:
        """A test that passed has said itself that it came to its end, and that nothing was raised last."""
        calls = [p for p in self._phases[test] if p.when == "call"]
        words = self._words if test == self._now else []
        if self._silent is None or test in self._silent or not calls or not all(p.passed for p in calls):
            return
        if not words:
            self._lists.setdefault("tamper", []).append(["unfinished", test])
        elif words[-2:-1] == ["raised"]:
            self._lists.setdefault("tamper", []).append(["patched", f"the outcome of {test}"])

    def report(self, broken: str | None) -> Report:
        lists = self._lists
        finish, end = lists.get("finish", []), lists.get("end", [])
        once = all(len(lists.get(k, ())) == 1 for k in ("hello", "finish", "end"))
        whole = once and finish[0]["exit"] == end[0]
        if broken is None and not whole:
            broken = "the report stops before its end" if "hello" in lists else "nothing was reported"
        imports = finish[0]["imports"] if finish else {"own": (), "foreign": {}}
        return Report(
            broken=broken,
            begun="hello" in lists,
            ended=end[0] if whole else None,
            collected=tuple(lists["collected"]) if "collected" in lists else None,
            deselected=tuple(lists.get("deselected", ())),
            started=tuple(lists.get("start", ())),
            phases={t: tuple(p) for t, p in self._phases.items() if not self._canary(t)},
            met=tuple(dict.fromkeys(self._met)),
            silent=frozenset(self._silent or ()),
            reads=tuple(dict.fromkeys(lists.get("read", ()))),
            unforkable=tuple(lists.get("unforkable", ())),
            canaries={t: tuple(p) for t, p in self._phases.items() if self._canary(t)},
            failures=tuple(lists.get("fail", ())),
            collection=tuple(lists.get("collect", ())),
            internal=tuple(lists.get("internal", ())),
            tampering=tuple((event, file) for event, file in lists.get("tamper", ())),
            plugins=tuple(dict.fromkeys(lists.get("plugin", ()))),
            own=tuple(imports["own"]),
            foreign=imports["foreign"],
            flaky=tuple(dict.fromkeys(lists.get("flaky", ()))),
            lines=tuple((test, {p: tuple(n) for p, n in seen.items()}) for test, seen in lists.get("lines", ())),
        )
