"""What a ruling is based on: one run, what was expected of it, and what the unpatched tree is known to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.domain.layer import Layer
from referee.domain.value import Value
from referee.judge import stream
from referee.judge.stream import Report
from referee.ports import Execution


class Known(Value):
    """What the unpatched tree is known to do: nothing in it is held against a patch (D1).

    `reads` are files that its tests read themselves.
    """

    outcomes: Mapping[str, str] = {}
    uncollected: tuple[str, ...] = ()
    tampering: tuple[tuple[str, str], ...] = ()
    plugins: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    canaries: bool = True


class Expected(Value):
    """What must be so for a pass.

    `ids` must pass. `files` are modules that could not be collected: each must be, and every function named must
    have passed there. With `whole`, every test the unpatched tree has must be seen again, none worse than before.
    """

    ids: tuple[str, ...] = ()
    files: Mapping[str, tuple[str, ...]] = {}
    whole: bool = False


class Evidence(Value):
    """One run, what was expected of it, and what the patch touched (dotted module names by path).

    `limit` says how long the run was allowed to take, and which setting allows more.
    """

    check: str
    layer: Layer
    execution: Execution
    expected: Expected
    known: Known = Known()
    touched: Mapping[str, tuple[str, ...]] = {}
    flaky: tuple[str, ...] = ()
    limit: str = ""


def known_from(report: Report) -> Known:
    """What a run of the unpatched tree teaches."""
    return Known(
        outcomes=report.outcomes,
        uncollected=tuple(r["id"] for r in report.collection if r["outcome"] == "failed"),
        tampering=report.tampering,
        plugins=report.plugins,
        reads=report.reads,
        canaries=not report.canaries or canaries_failed(report),
    )


def merged(known: Sequence[Known]) -> Known:
    """All that several runs taught; of an outcome the first counts."""
    outcomes: dict[str, str] = {}
    for k in known:
        outcomes = {**k.outcomes, **outcomes}
    return Known(
        outcomes=outcomes,
        uncollected=tuple(dict.fromkeys(u for k in known for u in k.uncollected)),
        tampering=tuple(dict.fromkeys(t for k in known for t in k.tampering)),
        plugins=tuple(dict.fromkeys(p for k in known for p in k.plugins)),
        reads=tuple(dict.fromkeys(r for k in known for r in k.reads)),
        canaries=all(k.canaries for k in known),
    )


def canaries_failed(report: Report) -> bool:
    """Whether every test that must fail was run and did."""
    good = [
        {p.when for p in phases} == {"setup", "call", "teardown"}
        and any(p.when == "call" and p.outcome == "failed" and p.raised == "AssertionError" for p in phases)
        for phases in report.canaries.values()
    ]
    return len(good) == stream.CANARIES and all(good)
