"""After the gate a model may object to what passed; what it says is for people, never for an author (E3)."""

from __future__ import annotations

from referee.authors.evaluator import Evaluator
from referee.domain.opinion import Exhibit
from referee.domain.verdict import CheckResult, fingerprint
from referee.flows.attempt import Attempt
from referee.judge import Bench
from referee.kernel.run import Run

# All that an author learns of an objection: the same words every time.
NOT_ACCEPTED = (
    "Every check passed, but the change was not accepted. "
    "Mend the cause itself, for every input and not only for what the checks use, in another way."
)


def opinion(
    run: Run, evaluator: Evaluator, bench: Bench, after: tuple[str, tuple[CheckResult, ...]], pressed: bool
) -> CheckResult:
    """What the evaluator says to a tree and the results of its checks."""
    tree, results = after
    exhibit = Exhibit(base=bench.base.tree, tree=tree, before=bench.failures, after=results)
    return evaluator.examine(run, exhibit, pressed)


def evaluated(run: Run, evaluator: Evaluator, bench: Bench, tried: Attempt, pressed: bool) -> Attempt:
    """An attempt that passed, with the evaluator's result; with an objection it has not passed."""
    verdict = tried.verdict
    result = opinion(run, evaluator, bench, (tried.tree, verdict.results), pressed)
    update: dict[str, object] = {"results": (*verdict.results, result)}
    if not result.clear:
        update |= {
            "passed": False,
            "layer": result.layer,
            "findings": result.findings,
            "fingerprint": fingerprint(result.findings),
            "feedback": NOT_ACCEPTED,
            "note": f"{evaluator.name} objects: {'; '.join(f.message for f in result.findings)}",
        }
    return tried.model_copy(update={"verdict": verdict.model_copy(update=update)})
