"""What the record keeps of a verdict, so that a run can be read while it goes on."""

from __future__ import annotations

from pydantic import TypeAdapter

from referee.domain.finding import Finding
from referee.domain.report import iteration
from referee.domain.verdict import Verdict
from referee.kernel.run import Run
from referee.kernel.seen import VERDICT

FINDINGS = TypeAdapter(tuple[Finding, ...])
MOST = 200  # findings kept of one verdict


def enter(run: Run, step: int, verdict: Verdict, trees: tuple[str, str]) -> None:
    """Record a verdict, and tell of it: the row of a report, the blob with its findings, what it was about.

    `trees` are the one that the run began with, and the judged one if the proposal could be applied.
    """
    found = run.put(FINDINGS.dump_json(verdict.findings[:MOST]), durable=False) if verdict.findings else ""
    words = "passed every check" if verdict.passed else f"{len(verdict.findings)} findings"
    before, after = trees
    facts = {
        "text": f"step {step}, {verdict.author}: {words}",
        "iteration": iteration(step, verdict).model_dump(mode="json"),
        "findings": found,
        "before": before,
        "after": after,
    }
    run.enter(f"{VERDICT}{step}", facts)
    run.progress("verdict", {"verdict": verdict, "step": step})
