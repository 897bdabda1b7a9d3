"""Whether an attempt got further than another, and whether attempts go round in circles (A4)."""

from __future__ import annotations

from collections.abc import Sequence

from referee.domain.layer import Layer
from referee.domain.verdict import CheckState, Verdict

_LONGEST_CYCLE = 3
_LAYERS = list(Layer)
_PHASES = ("process", "internal", "collect", "setup", "teardown", "call")


def cycle(prints: Sequence[str]) -> int:
    """How many fingerprints at the end of `prints` repeat those just before them, 3 at most; 0 if none do.

    Period 1 is the same failure twice in a row; a longer one must have come round twice.
    """
    for period in range(1, _LONGEST_CYCLE + 1):
        last, before = prints[-period:], prints[-2 * period : -period]
        if len(prints) >= 2 * period and list(last) == list(before) and all(last):
            return period
    return 0


def worse(after: Verdict, before: Verdict) -> bool:
    """Whether `after` is certainly a step back from `before`: tests that passed no longer do.

    Only tests tell. A proposal that does not yet meet a linter may be nearer to the goal than one that does.
    """
    if after.layer is None or before.layer is None or not (_tested(after.layer) and _tested(before.layer)):
        return False
    if after.layer is not before.layer:
        return _LAYERS.index(after.layer) < _LAYERS.index(before.layer)
    reached, had = _phase(after), _phase(before)
    if reached != had:
        return reached < had
    return _failing(after) > _failing(before)


def _tested(layer: Layer) -> bool:
    return _LAYERS.index(layer) >= _LAYERS.index(Layer.TARGET)


def _phase(verdict: Verdict) -> int:
    """How far the tests came: a file that cannot be collected is worse than a test that fails."""
    return min((_PHASES.index(f.phase) for f in verdict.findings if f.phase in _PHASES), default=len(_PHASES))


def _failing(verdict: Verdict) -> frozenset[str]:
    return frozenset(t for r in verdict.results if r.state is not CheckState.PASS for t in r.failed_ids)
