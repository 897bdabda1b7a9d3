"""From what the judge traced to what the survey looks at."""

from __future__ import annotations

from collections.abc import Mapping

from referee.authors.search.survey import Evidence
from referee.domain.brief import Brief
from referee.domain.finding import Finding
from referee.judge import Bench, Spectrum


def evidence(traced: Spectrum, recent: Mapping[str, tuple[int, ...]], bench: Bench, brief: Brief) -> Evidence:
    """What is known before the search; failures as first seen, or as the brief tells them."""
    targets = frozenset(bench.targets)
    lines = {t.id: frozenset((p, n) for p, found in t.lines.items() for n in found) for t in traced.tests}
    failures: list[Finding] = [f for r in bench.failures for f in r.findings] or list(brief.findings)
    return Evidence(
        failing=tuple(lines[t.id] for t in traced.tests if t.id in targets and lines[t.id]),
        passing=tuple(lines[t.id] for t in traced.tests if t.outcome == "passed" and lines[t.id]),
        targets=bench.targets,
        findings=tuple(failures),
        text=brief.task.text,
        recent=recent,
    )
