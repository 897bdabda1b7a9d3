"""What the record keeps of a verdict, so that a run can be read while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter

from referee.domain.finding import Finding
from referee.domain.report import iteration
from referee.domain.verdict import Verdict

FINDINGS = TypeAdapter(tuple[Finding, ...])
MOST = 200  # findings kept of one verdict


def entered(step: int, verdict: Verdict, put: Callable[[bytes], str]) -> dict[str, Any]:
    """The facts of an entry: the row of a report, and the digest of the blob with the findings."""
    row = iteration(step, verdict).model_dump(mode="json")
    found = put(FINDINGS.dump_json(verdict.findings[:MOST])) if verdict.findings else ""
    words = "passed every check" if verdict.passed else f"{len(verdict.findings)} findings"
    return {"text": f"step {step}, {verdict.author}: {words}", "iteration": row, "findings": found}
