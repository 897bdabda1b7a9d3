"""A workflow as an author: its file is the loop."""

from __future__ import annotations

from referee.authors.asking import Voice
from referee.authors.tools.author import ToolAuthor
from referee.authors.tools.steps import Flow, Wrong, played, stepping
from referee.domain.brief import Brief, Offer
from referee.domain.errors import Exhausted, UsageError
from referee.domain.reason import StopReason
from referee.domain.workflow import Workflow
from referee.kernel.run import Run
from referee.tools.room import Place


class WorkflowAuthor(ToolAuthor):
    """Runs the file once; the files as it leaves them are the proposal."""

    def __init__(self, voice: Voice, place: Place, workflow: Workflow) -> None:
        super().__init__(voice, place)
        self._workflow = workflow

    @property
    def name(self) -> str:
        """`workflow` and the file."""
        return f"workflow {self._workflow.path}"

    def propose(self, run: Run, brief: Brief) -> Offer:
        """What the file comes to. Raises `UsageError`, with the line, for what is wrong in it.

        After its first step that is `Exhausted`: a resume runs the same file, and what was done is to be shown.
        """
        if self._room is not None:
            return self._nothing("the workflow has come to its end; what it made was not taken")
        room = self._furnished(run, brief)
        try:
            do = stepping(room, self._toolbox, self._outcomes)
            answer = played(self._workflow, Flow(do, self._workflow.arguments))
        except Wrong as wrong:
            if not self._outcomes:
                raise UsageError(str(wrong)) from wrong
            raise Exhausted(StopReason.NON_PROGRESS, str(wrong)) from wrong
        return self._offer(run, brief, room, answer)
