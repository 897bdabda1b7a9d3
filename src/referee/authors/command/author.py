"""An author that is a program: an agent works on a copy in the sandbox, and the difference is the proposal (E4)."""

from __future__ import annotations

from referee.actions.execute import Execute
from referee.actions.step import Gauge
from referee.authors.command.presets import Agent
from referee.authors.command.workshop import GRACE, Errand, bound, workshop
from referee.context.errand import errand
from referee.domain.brief import Brief, Offer
from referee.domain.changes import CHECK, Work, reported
from referee.domain.errors import Rejected
from referee.domain.finding import Finding, FindingKind
from referee.domain.protection import Protection
from referee.judge import Bench
from referee.kernel.run import Run
from referee.ports import Execution, Mount

LONGEST = 1_800.0  # seconds of one turn
RESERVE = 0.2  # of the time left, for judging what comes
_TOLD = 20  # contacts
_LAST_WORDS = 300


class CommandAuthor:
    """Runs `agent` once for each brief; what the checks said of its last change is in its next prompt."""

    def __init__(self, bench: Bench, agent: Agent, protection: Protection, mounts: tuple[Mount, ...] = ()) -> None:
        self._bench, self._agent, self._protection, self._mounts = bench, agent, protection, mounts
        self._undone: tuple[Finding, ...] = ()

    @property
    def name(self) -> str:
        """Such as `command aider`."""
        return f"command {self._agent.name}"

    def propose(self, run: Run, brief: Brief) -> Offer:
        """What the agent changed. Raises `Exhausted` when the run's time ends before the agent does."""
        run.note(f"{self.name}: what it spends at its provider is not known here and not counted")
        left = run.perform(Gauge(view=run.view)).seconds_left
        asked = Errand(
            argv=self._agent.argv,
            prompt=errand(brief, self._undone),
            seconds=round(min(LONGEST, max(GRACE, left * (1 - RESERVE))), 1),
            env=self._agent.env,
            mounts=self._mounts,
            egress=self._agent.egress,
        )
        execution = run.perform(Execute(command=workshop(run, self._bench, brief.base, asked)))
        for contact in execution.contacts[:_TOLD]:
            run.note(f"{self.name} {contact.words}")
        try:
            done = reported(execution.channel, bound(run, brief.base, self._protection))
        except Rejected as too_much:
            return Offer(author=self.name, findings=too_much.findings, note=str(too_much))
        self._undone = done.undone
        for each in done.undone:
            run.note(f"{self.name}: {each.message}")
        if done.patch.changes:
            return Offer(author=self.name, patch=done.patch, undone=done.undone, note=done.ended)
        return self._nothing(execution, done)

    def _nothing(self, execution: Execution, done: Work) -> Offer:
        """An agent that changed nothing it may: a finding, so that one that never does is stopped."""
        killed = f"it was killed ({execution.killed_by})" if execution.killed_by else ""
        said = (execution.stderr or execution.stdout)[-_LAST_WORDS:].decode(errors="replace").strip()
        how = killed or done.ended or "it ended by itself"
        message = f"{self.name} changed nothing: {how}" + (f"; its last words: {said}" if said else "")
        finding = Finding(kind=FindingKind.UNAPPLIABLE, check=CHECK, id=CHECK, message=message)
        return Offer(author=self.name, findings=(*done.undone, finding), note=message)
