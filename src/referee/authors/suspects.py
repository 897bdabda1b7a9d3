"""Where to look first, for a model's brief: the lines that the failing tests ran and the passing ones did not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from referee.authors.search.localise import ochiai
from referee.context.relevance import Suspect
from referee.judge import Bench, Spectrum, spectrum
from referee.kernel.run import Run

MOST = 40
Suspects = Callable[[Run], Sequence[Suspect]]


def traced(bench: Bench) -> Suspects:
    """The suspects of a bench, traced when first asked for and then remembered."""
    found: list[Sequence[Suspect]] = []

    def suspects(run: Run) -> Sequence[Suspect]:
        if not found:
            run.progress("check", {"what": "tracing the tests"})
            found.append(ranked(spectrum(run, bench), bench.targets))
        return found[0]

    return suspects


def nowhere(run: Run) -> Sequence[Suspect]:
    """No suspects: the frames of the failure have to do."""
    return ()


def ranked(seen: Spectrum, targets: Sequence[str]) -> Sequence[Suspect]:
    """The most suspicious lines by the Ochiai formula, most suspicious first."""
    lines = {t.id: frozenset((p, n) for p, ns in t.lines.items() for n in ns) for t in seen.tests}
    failing = [lines[t.id] for t in seen.tests if t.id in targets]
    passing = [lines[t.id] for t in seen.tests if t.outcome == "passed"]
    if not any(failing):
        return ()
    scores = ochiai(failing, passing)
    flat = [Suspect(path=p, line=n, score=min(1.0, s)) for p, ns in scores.items() for n, s in ns.items()]
    return sorted(flat, key=lambda s: (-s.score, s.path, s.line))[:MOST]
