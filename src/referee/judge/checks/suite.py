"""A suite of another language as a check: everything must say "passed", and nothing may say otherwise (D3)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from referee.domain.finding import Finding
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult
from referee.judge.checks.base import Check
from referee.judge.findings import tampering
from referee.judge.normal import coarse, steady
from referee.judge.plan import limits
from referee.judge.project import INSIDE
from referee.judge.suites.heard import Heard, heard
from referee.judge.suites.suite import Suite
from referee.ports import Base, Command, Execution

_PIECE = 100_000  # bytes of one argument; the kernel refuses 128 KiB
_CHANNEL_BYTES = 128 << 20
_WRONG = {"missing": "it did not run", "skipped": "it was skipped", "failed": "it failed"}


class SuiteCheck(Check):
    """Runs `chosen` tests (none: all). `known` is how each test ended on the unpatched tree (None: nothing is known).

    `must` are tests that must pass, `aims` are targets of which something must run and all must pass. `bites` are the
    groups of tests in which the judge's own failing test fails as it should; `broken` are ids of what did not even
    load before and need not; `complete` says that all did. `flaky` tests are told and not counted.
    """

    reader: str = "suite"
    suite: Suite
    chosen: tuple[str, ...] = ()
    known: Mapping[str, str] | None = None
    must: tuple[str, ...] = ()
    aims: tuple[str, ...] = ()
    bites: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    complete: bool = True
    flaky: tuple[str, ...] = ()

    def command(self, base: Base, patch: Patch) -> Command | None:
        """The judge's own starter, which starts the runner; None for a patch of other languages' files only."""
        suite, root = self.suite, self.project.root
        if patch.changes and not self.aims and not any(suite.concerns(p) for p in patch.touched):
            return None
        cwd = f"{root}/{suite.home}" if suite.home else root
        spec = {
            "kind": suite.kind, "root": root, "cwd": cwd, "files": suite.files, "flags": suite.flags,
            "chosen": self.chosen,
        }  # fmt: skip
        text = json.dumps(spec)
        return Command(
            argv=(
                *(self.project.interpreter.executable, "-I", "-S", "-B", f"{INSIDE}/suite.py"),
                *(text[i : i + _PIECE] for i in range(0, len(text), _PIECE)),
            ),
            base=_opened(base, suite),
            patch=patch,
            cwd=cwd,
            env={**self.project.env, "CI": "1", "NO_COLOR": "1", "FORCE_COLOR": "0"},
            mounts=self.project.mounts,
            limits=limits(self.seconds).model_copy(update={"channel_bytes": _CHANNEL_BYTES}),
            channel=True,
        )

    def raw(self, execution: Execution) -> bytes:
        """What the runner wrote, which the starter passed on."""
        told = self.heard(execution)
        return told.text.encode("utf-8", "replace") or execution.stderr

    def heard(self, execution: Execution) -> Heard:
        """What the run said, as it is."""
        return heard(self.suite, self.name, self.project.root, execution)

    def read(self, execution: Execution) -> CheckResult:
        """A finding for everything that stands in the way."""
        told = self.heard(execution)
        if execution.killed_by or (self.known is not None and told.strange):
            return self.result(execution, (self._ended(execution, told),))
        if told.strange or not (told.outcomes or told.findings):
            return self.unreadable(execution, f"{self.name}: {told.strange or 'no test ran'}")
        failing = tuple(f for f in told.findings if self._counts(f.id, told))
        found = (*failing, *self._unsatisfied(told, {f.id for f in failing}), *self._unexpected(told))
        found = (*self._tampered(told), *found)
        made = self.result(execution, found)
        ended = {k: tuple(t for t, o in told.outcomes.items() if o == k) for k in ("passed", "failed", "skipped")}
        update = {
            "known": tuple(f for f in told.findings if f not in failing),
            "passed_ids": ended["passed"],
            "failed_ids": ended["failed"],
            "note": ", ".join(f"{len(ids)} {k}" for k, ids in ended.items() if ids),
        }
        return made.model_copy(update=update)

    def _ended(self, execution: Execution, told: Heard) -> Finding:
        """The run as a whole came to nothing."""
        killed = execution.killed_by
        words = f"{self.name}: {told.strange}; the code under test may have ended it, or written where the report goes"
        if killed:
            words = f"{self.name} was killed ({killed})"
            words += f": it took longer than {self.seconds:g} seconds" if killed == "wall" else ""
        error = f"killed:{killed}" if killed else "no report"
        return Finding(
            check=self.name, id=f"({self.name})", phase="process", error=error, message=words,
            cause=f"process|{error}|{coarse(words)}", value=steady(words), detail=told.tail,
        )  # fmt: skip

    def _counts(self, test: str, told: Heard) -> bool:
        """Whether a failure was not there before, or is one that must be mended."""
        if self.known is None or test in self.must or any(self.suite.names(a, test) for a in self.aims):
            return test not in self.flaky or test in self.must
        if test not in told.outcomes:  # something that did not load
            return test not in self.broken
        return test not in self.flaky and self.known.get(test) != "failed"

    def _unsatisfied(self, told: Heard, failing: set[str]) -> Iterable[Finding]:
        for test in dict.fromkeys(self.must):
            how = told.outcomes.get(test, "missing")
            if how != "passed" and test not in failing and not any(f.startswith(test + "/") for f in failing):
                yield self._finding(test, how, f"{test} did not pass: {_WRONG[how]}")
        for aim in self.aims:
            meant = [o for t, o in told.outcomes.items() if self.suite.names(aim, t)]
            if not failing and (not meant or "passed" not in meant or "skipped" in meant):
                how = "skipped" if "skipped" in meant else "missing"
                yield self._finding(aim, how, f"{aim} did not pass: {_WRONG[how]}")

    def _unexpected(self, told: Heard) -> Iterable[Finding]:
        """Tests that nobody wrote: tests are protected, so new ones come from the code under test."""
        if self.known is None or not self.complete:
            return
        red = [t for t, o in self.known.items() if o != "passed"]
        for test in told.outcomes:
            if test not in self.known and not any(test.startswith(t + "/") for t in red):
                yield self._finding(test, "unexpected", f"{test} is a test that the unpatched tree does not have")

    def _tampered(self, told: Heard) -> Iterable[Finding]:
        """Where the judge's own failing test did not fail, outcomes are bent or made up."""
        for group in self.bites:
            ran = [t for t in told.outcomes if self.suite.group(t) == group]
            if group in told.unbitten or (group not in told.bitten and any(told.outcomes[t] == "passed" for t in ran)):
                said = f"a test of the judge's that must fail in {group} did not: its outcomes are bent or made up"
                yield tampering(self.name, said, group, "canary")

    def _finding(self, test: str, how: str, message: str) -> Finding:
        return Finding(check=self.name, id=test, error=how, phase="call", message=message, cause=f"outcome|{how}")


def _opened(base: Base, suite: Suite) -> Base:
    """A base in which the judge's starter can add to Rust's integration tests before they are compiled."""
    roots = [f"{suite.home}/{f}" if suite.home else f for f in suite.files] if suite.kind == "cargo-test" else []
    over = {p for p in base.protected if any(r == p or r.startswith(p + "/") for r in roots)}
    if not over:
        return base
    kept = (p for p in suite.guarded if any(p.startswith(o + "/") for o in over))
    return base.model_copy(update={"protected": (*(p for p in base.protected if p not in over), *kept)})
