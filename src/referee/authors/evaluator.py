"""A check whose program is a model: after the gate it may stop a landing, and never allow one (E3)."""

from __future__ import annotations

from referee.authors.asking import Asker, Declined, Question, Voice
from referee.context.evaluation import evaluator_system, exhibited
from referee.context.schema import opinion_schema
from referee.domain.errors import Exhausted
from referee.domain.finding import Finding, FindingKind
from referee.domain.layer import Layer
from referee.domain.opinion import Exhibit, Opinion
from referee.domain.reason import StopReason
from referee.domain.strict_json import parse
from referee.domain.verdict import CheckResult, CheckState
from referee.judge.normal import decode, steady
from referee.kernel.run import Run

CHECK = "evaluator"


class Evaluator:
    """Shows a model the change and the checks' output, nothing else."""

    def __init__(self, voice: Voice) -> None:
        self._asker = Asker(voice)

    @property
    def name(self) -> str:
        """The role and the model, such as `evaluator openai:gpt-5-mini`."""
        return self._asker.name

    def examine(self, run: Run, exhibit: Exhibit, pressed: bool) -> CheckResult:
        """What it says to a change that passed. Raises `Exhausted` when it cannot be brought to an opinion.

        Somebody asked for an evaluation, so a change that nobody evaluated does not land.
        """
        run.progress("check", {"check": CHECK, "layer": Layer.SUITE.value})
        diff = run.diff(exhibit.base, exhibit.tree).decode("utf-8", "backslashreplace")
        # Without times and addresses the same change is the same question.
        output = {r.check: steady(decode(run.get(r.log))) for r in exhibit.after if r.log}
        question = Question(
            system=evaluator_system(),
            text=exhibited(exhibit, diff, output),
            reply_schema=opinion_schema(),
            reply_name="opinion",
            wanted="opinion",
            pressed=pressed,
        )
        try:
            opinion = self._asker.ask(run, question, lambda text: parse(text, Opinion))
        except Declined as refusal:
            raise Exhausted(StopReason.SCHEMA_FAILURE, f"nothing lands without an opinion: {refusal}") from None
        return _result(opinion)


def _result(opinion: Opinion) -> CheckResult:
    against = tuple(
        Finding(kind=FindingKind.OBJECTION, check=CHECK, id=CHECK, message=text) for text in opinion.objections
    )
    state = CheckState.FAIL if against else CheckState.PASS
    return CheckResult(check=CHECK, layer=Layer.SUITE, state=state, findings=against, note=opinion.reason[:300])
