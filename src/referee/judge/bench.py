"""A judge made ready for one run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from referee.domain.finding import Finding
from referee.domain.patch import Patch
from referee.domain.value import Value
from referee.domain.verdict import CheckResult
from referee.judge.checks.base import Check
from referee.judge.evidence import Expected, Known
from referee.judge.layout import modules_of
from referee.judge.project import Project
from referee.judge.selection.reached import Reached, unpacked
from referee.judge.selection.rules import Record, file_of
from referee.judge.settings import Settings
from referee.ports import Base


class Bench(Value):
    """What a proposal is judged with.

    `targets` are test ids (or files that could not be collected) that fail now, `aims` those of suites in other
    languages; `expected` is what must be so once
    they are mended; `known` what tests do on the unpatched tree, `known_findings` what each other check already says
    there. `flaky` tests are reported and not counted, unless they are targets. `failures` are the targets' failures as
    first seen: what an author is told before any attempt. `target_ms` and `suite_ms` are how long one run took;
    `test_seconds` how long one test may take; `ordered` says that the targets depend on the order they run in;
    `reached` is a map of what each test was seen to reach, if there is one.
    """

    project: Project
    base: Base
    settings: Settings
    checks: tuple[Check, ...] = ()
    targets: tuple[str, ...] = ()
    aims: tuple[str, ...] = ()
    expected: Expected = Expected()
    known: Known = Known()
    known_findings: Mapping[str, tuple[Finding, ...]] = {}
    flaky: tuple[str, ...] = ()
    failures: tuple[CheckResult, ...] = ()
    target_ms: int = 0
    suite_ms: int = 0
    test_seconds: float = 10.0
    ordered: bool = False
    reached: Reached | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """All that is to be mended, as authors and reports are told."""
        return (*self.targets, *self.aims)

    @cached_property
    def tested(self) -> frozenset[str]:
        """Files that hold tests."""
        return frozenset(map(file_of, (*self.known.outcomes, *self.targets)))

    @cached_property
    def record(self) -> Record | None:
        """The map, the other way round."""
        return None if self.reached is None else Record(unpacked(self.reached), self.reached.always)

    def touched(self, patch: Patch) -> dict[str, tuple[str, ...]]:
        """The modules a patch writes, by path, with the names they may be imported under."""
        paths = [c.path for c in patch.changes if c.after is not None and c.path.endswith(".py")]
        return {p: modules_of(p, self.project.layout) for p in paths}
