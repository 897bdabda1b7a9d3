"""What the models of a run read and wrote, from its journal."""

from __future__ import annotations

from collections.abc import Iterator

from referee.domain.report import Outcome, TokenUse
from referee.kernel.journal import Ending
from referee.ports import Kind, ModelReply, Store


def replies(store: Store, run_id: str) -> Iterator[ModelReply]:
    """What models answered in the calls of a run that ended, in order."""
    for entry in store.entries(run_id):
        if entry.kind is not Kind.ENDED or entry.action != "call_model":
            continue
        ending = Ending.model_validate_json(entry.payload)
        if ending.outcome == "done":
            yield ModelReply.model_validate_json(store.get(ending.blob) if ending.blob else ending.result)


def counted(store: Store, run_id: str, outcome: Outcome) -> Outcome:
    """The outcome with the tokens of all calls that ended, by kind."""
    use = TokenUse()
    for said in (reply.usage for reply in replies(store, run_id)):
        use = TokenUse(
            calls=use.calls + 1,
            fresh_input=use.fresh_input + said.fresh_input,
            cache_read=use.cache_read + said.cache_read,
            cache_write=use.cache_write + said.cache_write,
            output=use.output + said.output,
            reasoning=use.reasoning + said.reasoning,
        )
    update: dict[str, object] = {"usage": use}
    if outcome.report.metrics is not None:
        answered = sum(entry.kind is Kind.ANSWERED for entry in store.entries(run_id))
        update["metrics"] = outcome.report.metrics.model_copy(update={"interventions": answered})
    return outcome.model_copy(update={"report": outcome.report.model_copy(update=update)})
