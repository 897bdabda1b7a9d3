"""An agent works on a task with tools; what it leaves behind is a proposal like any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from referee.actions.accept import AcceptUnjudged
from referee.actions.step import ChargeStep, Gauge
from referee.actions.tree import PrepareBase, TakeSnapshot
from referee.authors.tools import ToolAuthor
from referee.domain.brief import Brief, Offer
from referee.domain.cost import HIGH_PRESSURE
from referee.domain.decision import Land, Repair, Stop
from referee.domain.errors import Exhausted, Rejected
from referee.domain.reason import StopReason
from referee.domain.verdict import Verdict
from referee.flows.attempt import Attempt, Ground, attempt
from referee.flows.plan import Ended, Plan
from referee.flows.race import Tried
from referee.flows.repair import decided, first_brief, following, landed
from referee.flows.round import State, Turn, concluded
from referee.judge import Bench
from referee.kernel.run import Run
from referee.ports import Base

UNJUDGED = "no check can judge it here, so a person decides"


class LateJudge:
    """The judge, made ready when it is first needed; None if nothing can judge. Its entries have a place of their own.

    Whether a tool asks first or the end of the work does, a replay finds the same entries.
    """

    def __init__(self, prepare: Callable[[Run, Base], Bench | None]) -> None:
        self._prepare = prepare
        self._place: tuple[Run, Plan, str] | None = None
        self._asked = False
        self.bench: Bench | None = None

    @property
    def tree(self) -> str:
        """The unmodified tree."""
        return self._place[2] if self._place else ""

    def open(self, run: Run, plan: Plan, tree: str) -> None:
        """Say where: in a branch of `run`, on `tree`."""
        self._place = (run.branch("judge"), plan, tree)

    def ready(self) -> Bench | None:
        """The bench. Raises `Exhausted` if the judge cannot be relied on."""
        assert self._place is not None  # opened by the flow
        if not self._asked:
            run, plan, tree = self._place
            run.progress("baseline", {"what": "making the judge ready on the unmodified tree"})
            base = run.perform(PrepareBase(tree=tree, protection=plan.protection))
            self.bench = self._prepare(run, base)
            self._asked = True
        return self.bench


@dataclass(frozen=True, kw_only=True)
class Errand:
    """An agent's task, ready to run."""

    plan: Plan
    author: ToolAuthor
    judge: LateJudge
    asked_later: bool = False  # every landing is asked about


def agent(run: Run, errand: Errand) -> Ended:
    """Run the whole of it. Only `Interrupt`, `UsageError`, `WorldFault` and `Diverged` leave it as exceptions."""
    plan, author = errand.plan, errand.author
    snapshot = run.perform(TakeSnapshot(run_id=run.id))
    run.progress("opened", {"task": plan.task.text, "targets": plan.task.targets, "tree": snapshot.tree})
    state = State(plan=plan, snapshot=snapshot, generator="agent")
    if snapshot.left_out:
        run.note(snapshot.left_out)
    errand.judge.open(run, plan, snapshot.tree)
    try:
        ended = _turns(run, errand, state)
    except Exhausted as spent:
        run.note(f"stopped ({spent.reason.value}): {spent}")
        _keep(run, errand, state)
        ended = state.ended(spent.reason, note=str(spent))
    finally:  # also where the run waits for a person or is stopped
        run.progress("answer", {"answer": state.answer, "metrics": author.metrics, "presented": author.presented})
    told = {"metrics": author.metrics, "answer": state.answer, "presented": author.presented}
    return ended.model_copy(update=told)


def _turns(run: Run, errand: Errand, state: State) -> Ended:
    brief = _brief(errand, state)
    ground = Ground(tree=state.snapshot.tree, protection=errand.plan.protection)
    while True:
        view = run.perform(Gauge(view=run.view))
        brief = brief.model_copy(update={"pressed": view.pressure > HIGH_PRESSURE})
        told = {"step": len(state.rounds) + 1, "author": errand.author.name, "pressed": brief.pressed}
        run.progress("round", {**told, "targets": state.targets, "generator": "agent"})
        offer = errand.author.propose(run, brief)
        state.answer = offer.answer or state.answer
        if errand.author.tree == state.snapshot.tree:
            return _unchanged(state, offer)
        if not offer.proposed and errand.author.tree != brief.base:
            _keep(run, errand, state)
            return state.ended(StopReason.NON_PROGRESS, note=f"{offer.note}; its changes so far are kept, unjudged")
        bench = errand.judge.ready()
        if bench is None:
            return _unjudged(run, errand, state)
        run.perform(ChargeStep(author=errand.author.name))
        turn = Turn(state=state, bench=bench, brief=brief, ground=ground)
        tried, _ = concluded(run, turn, Tried(offer=offer, attempt=attempt(run, bench, ground, offer, brief.pressed)))
        decision = decided(run, state)
        if isinstance(decision, Land):
            return landed(run, state)
        if not isinstance(decision, Repair):
            reason = decision.reason if isinstance(decision, Stop) else StopReason.NON_PROGRESS
            return state.ended(reason, note=getattr(decision, "note", ""))
        if tried.verdict.proposed:
            brief, ground = following(brief, ground, tried, offer)


def _brief(errand: Errand, state: State) -> Brief:
    """With targets the judge is made ready first: they fail, and how is part of the task."""
    plan = errand.plan
    if plan.task.targets and (bench := errand.judge.ready()) is not None:
        state.targets = bench.named
        return first_brief(state, bench)
    return Brief(
        task=plan.task,
        base=state.snapshot.tree,
        targets=(),
        feedback="",
        protected=plan.protection.protected,
        source=plan.protection.source,
    )


def _unchanged(state: State, offer: Offer) -> Ended:
    """Nothing was changed: an answer in words ends the task, unless something was to be mended."""
    if offer.answer and not state.plan.task.targets:
        return state.ended(StopReason.SOLVED, note="answered in words; no file was changed")
    return state.ended(StopReason.NON_PROGRESS, note=offer.note)


def _unjudged(run: Run, errand: Errand, state: State) -> Ended:
    """Land it if a person accepts it; until then the run waits."""
    _keep(run, errand, state)
    assert state.last is not None  # something was changed
    if state.plan.place == "none":
        return state.ended(StopReason.NEEDS_SIGNATURE, note=UNJUDGED)
    trees = {"before": state.snapshot.tree, "after": state.last.tree}
    run.progress("land", trees)
    try:
        run.perform(AcceptUnjudged(**trees, later=errand.asked_later))
    except Rejected as refused:
        run.note(f"not landed: {refused}")
        return state.ended(StopReason.HUMAN_ABORT, note=str(refused))
    return landed(run, state)


def _keep(run: Run, errand: Errand, state: State) -> None:
    """Keep what the agent has done so far as the proposal to show; no check has passed it."""
    tree = errand.author.tree
    if tree and tree != state.snapshot.tree:
        patch = run.between(state.snapshot.tree, tree)
        verdict = Verdict(author=errand.author.name, proposed=True, passed=False, touched=patch.touched)
        state.last = Attempt(verdict=verdict, tree=tree, patch=patch)
