"""Running a check's command: what it reached of the network, and what it was refused, is said in the report."""

from __future__ import annotations

from referee.actions.execute import Execute
from referee.kernel.run import Run
from referee.ports import Command, Execution

_TOLD = 20


def execute(run: Run, check: str, command: Command) -> Execution:
    """Run it. All contacts and their byte counts stay with the execution in the journal; the first are told."""
    execution = run.perform(Execute(command=command))
    for contact in execution.contacts[:_TOLD]:
        run.note(f"the check {check} {contact.words}")
    if len(execution.contacts) > _TOLD:
        run.note(f"the check {check} tried more destinations than that; all are in the journal")
    return execution
