"""Running a check's command: what it reached of the network, and what it was refused, is said in the report."""

from __future__ import annotations

from referee.actions.execute import Execute
from referee.kernel.run import Run
from referee.ports import Command, Execution


def execute(run: Run, check: str, command: Command) -> Execution:
    """Run it. Byte counts stay with the execution in the journal; here each contact is told once."""
    execution = run.perform(Execute(command=command))
    for contact in execution.contacts:
        run.note(f"the check {check} {contact.words}")
    return execution
