"""Which lines ran for which test on the unpatched tree: what fault localisation works on."""

from __future__ import annotations

from collections.abc import Mapping

from referee.domain.finding import Finding
from referee.domain.patch import Patch
from referee.domain.value import Value
from referee.judge import findings, plan, stream
from referee.judge.bench import Bench
from referee.judge.plan import TestRun
from referee.kernel.run import Run

_WHOLE_MS = 5_000  # a suite quicker than this is traced whole
_SLOWER = 6  # tracing makes tests slower by about this


class Trace(Value):
    """One test: how it ended, and the lines of the code under test it executed, by path."""

    id: str
    outcome: str
    lines: Mapping[str, tuple[int, ...]]


class Spectrum(Value):
    """`imported` are lines that ran while modules were imported; `failures` carry the frames of what failed."""

    tests: tuple[Trace, ...]
    imported: Mapping[str, tuple[int, ...]] = {}
    failures: tuple[Finding, ...] = ()


def spectrum(run: Run, bench: Bench) -> Spectrum:
    """Trace the suite, or the targets' files if the suite is long."""
    whole = bench.suite_ms <= _WHOLE_MS
    ids = () if whole else tuple(dict.fromkeys(t.partition("::")[0] for t in bench.targets))
    what = TestRun(ids=ids, trace=True, test_seconds=bench.test_seconds * _SLOWER)
    seconds = min(bench.settings.suite_seconds, bench.suite_ms / 1000 * _SLOWER + 10)
    execution = plan.warm(run, bench.project, bench.base, (plan.job(bench.project, Patch(), what, seconds),))[0]
    report = stream.read(execution.channel, execution.key)
    outcomes = report.outcomes
    lines: dict[str, Mapping[str, tuple[int, ...]]] = dict(report.lines)
    return Spectrum(
        tests=tuple(Trace(id=t, outcome=o, lines=lines.get(t, {})) for t, o in outcomes.items()),
        imported=lines.get("", {}),
        failures=(
            *(findings.of_failure("pytest", r) for r in report.failures if r["id"] in outcomes),
            *(findings.of_collection("pytest", r) for r in report.collection if r["outcome"] == "failed"),
        ),
    )
