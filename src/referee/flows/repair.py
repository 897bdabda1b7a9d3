"""Seek a patch that passes every layer; leave the user's files landed or as they were."""

from __future__ import annotations

from referee.actions.step import Gauge
from referee.actions.tree import LandTree, PrepareBase, TakeSnapshot
from referee.authors.mechanical import mendable
from referee.domain.brief import Attempted, Brief, Offer, Strategy
from referee.domain.commit_message import Repaired
from referee.domain.cost import HIGH_PRESSURE, BudgetView, Cost
from referee.domain.decision import Decision, Hold, Land, Repair, Stop, Switch, decide
from referee.domain.errors import Exhausted, Rejected
from referee.domain.layer import Layer
from referee.domain.progress import worse
from referee.domain.reason import StopReason
from referee.domain.verdict import blocking
from referee.flows.attempt import Attempt, Ground
from referee.flows.deliver import deliver
from referee.flows.plan import Ended, Plan, Player
from referee.flows.round import Held, State, Turn, play_round, rivals
from referee.judge import Bench, compress
from referee.kernel.run import Run

STUCK = (StopReason.NON_PROGRESS, StopReason.GATE_REGRESSION)


def repair(run: Run, plan: Plan) -> Ended:
    """Run the whole repair. Only `Interrupt`, `UsageError`, `WorldFault` and `Diverged` leave it as exceptions."""
    snapshot = run.perform(TakeSnapshot(run_id=run.id))
    run.progress("opened", {"task": plan.task.text, "targets": plan.task.targets, "tree": snapshot.tree})
    state = State(plan=plan, snapshot=snapshot)
    if snapshot.left_out:
        run.note(snapshot.left_out)
    try:
        base = run.perform(PrepareBase(tree=snapshot.tree, protection=plan.protection))
        run.progress("baseline", {"what": "checking the judge on the unmodified tree"})
        bench = plan.prepare(run, base)
        state.targets = bench.named
        return _play(run, state, bench)
    except Exhausted as spent:
        run.note(f"stopped ({spent.reason.value}): {spent}")
        if state.held is not None:
            return _held(run, state, state.held)
        return _stopped(run, state, spent.reason, str(spent))


def _stopped(run: Run, state: State, reason: StopReason, note: str) -> Ended:
    """The end of a run that failed: the user's files are as they were, unless that is switched off."""
    last = state.last
    if state.plan.parts.rollback or last is None or not last.tree:
        return state.ended(reason, note=note)
    try:
        left = run.perform(LandTree(run_id=run.id, before=state.snapshot.tree, after=last.tree))
    except Exhausted:
        run.note("the last proposal would have stayed in the files, but the run's time was over")
        left = None
    return state.ended(reason, note=note, landing=left)


def _play(run: Run, state: State, bench: Bench) -> Ended:
    """Let each player try until a proposal lands or the run must stop."""
    players = list(state.plan.players(bench))
    if not players:
        return state.ended(StopReason.NON_PROGRESS, note="no author is configured")
    end: Stop | Switch = Switch()
    for player, following in zip(players, [*players[1:], None], strict=True):
        state.history, state.generator = [], player.kind
        decision = _turns(run, state, bench, player)
        if isinstance(decision, Land):
            return landed(run, state)
        if isinstance(decision, Hold):
            assert state.last is not None  # only a judged proposal can be held
            state.held = Held(attempt=state.last, round=state.rounds[-1], kind=player.kind)
            decision = Switch(note=f"what it found passes, but {decision.doubt}")
        end = decision
        stuck = isinstance(decision, Switch) or decision.reason in STUCK
        if following is None or not stuck or run.view.refusal(Cost(steps=1)) is not None:
            break
        run.note(f"{player.generator.name} is done: {decision.note or 'nothing more'}; now {following.generator.name}")
    if state.held is not None:
        return _held(run, state, state.held)
    reason = end.reason if isinstance(end, Stop) else StopReason.NON_PROGRESS
    return _stopped(run, state, reason, end.note)


def _held(run: Run, state: State, held: Held) -> Ended:
    """The best there is was doubted by its author: it is shown and kept, and lands only if a person says so."""
    state.last, state.generator = held.attempt, held.kind
    doubt = held.round.verdict.doubt
    run.note(f"not landed: every check passes, but {doubt}; read it; --allow-overfitted lands such patches")
    return state.ended(StopReason.NEEDS_SIGNATURE, note=doubt)


def _turns(run: Run, state: State, bench: Bench, player: Player) -> Land | Hold | Stop | Switch:
    """One player's attempts, until a decision that is not another attempt."""
    brief = first_brief(state, bench)
    ground = Ground(tree=bench.base.tree, protection=state.plan.protection)
    fixing, tidying, best = False, False, None
    while True:
        view = run.perform(Gauge(view=run.view))
        pressed = view.pressure > HIGH_PRESSURE
        mechanic = player.mechanic if tidying else None
        authors = [mechanic] if mechanic else rivals(run, player, fixing, bench, view)
        told = {"step": len(state.rounds) + 1, "author": authors[0].name, "pressed": pressed}
        told |= {"targets": bench.named, "generator": player.kind}
        run.progress("round", told)
        told_now = {"pressed": pressed, "steps_left": view.budget.max_steps - view.spent.steps}
        tidied = state.rounds[-1] if mechanic else None
        turn = Turn(state=state, bench=bench, brief=brief.model_copy(update=told_now), ground=ground, tidied=tidied)
        tried, offer = play_round(run, turn, authors)
        decision = decided(run, state)
        if not isinstance(decision, Repair):
            return decision
        back = best is not None and bool(tried.tree) and worse(tried.verdict, best.verdict)
        tidying = not (tidying or back) and bool(tried.tree) and mendable(tried.verdict.findings)
        if offer.proposed:
            if tried.tree and not back:
                best = tried
            brief, ground = following(brief, ground, tried, offer, incremental=player.incremental)
            if back and best is not None and player.incremental:
                brief, ground = _back(run, brief, ground, best)
            fixing = True


def decided(run: Run, state: State) -> Decision:
    """What follows from the verdicts so far and the budget; it is entered into the record."""
    view: BudgetView = run.perform(Gauge(view=run.view))
    plan = state.plan
    decision = decide(state.history, view, doubtful=plan.doubtful, patience=plan.parts.patience)
    run.decided(decision, view)
    return decision


def first_brief(state: State, bench: Bench) -> Brief:
    """What is known before any attempt."""
    return Brief(
        task=state.plan.task,
        base=bench.base.tree,
        targets=bench.named,
        feedback=compress(bench.failures),
        findings=blocking(bench.failures),
        checks=tuple(c.name for c in bench.checks if c.layer is not Layer.TARGET),
        protected=state.plan.protection.protected,
        source=state.plan.protection.source,
    )


def following(
    brief: Brief, ground: Ground, tried: Attempt, offer: Offer, *, incremental: bool = True
) -> tuple[Brief, Ground]:
    """The next brief: on top of what was applied, unless the author starts afresh each time or overstepped."""
    verdict = tried.verdict
    outcome = verdict.told[0].message if verdict.told else verdict.feedback
    cause = offer.proposal.root_cause if offer.proposal else ""
    past = (*brief.attempts, Attempted(touched=verdict.touched, root_cause=cause, outcome=outcome))
    overstepped = verdict.overstepped or not tried.tree
    if incremental and not overstepped:
        ground = ground.model_copy(update={"tree": tried.tree, "patch": tried.patch})
    update = {
        "base": ground.tree,
        "findings": verdict.told,
        "feedback": verdict.feedback,
        "strategy": Strategy.RESTART if overstepped else Strategy.REPAIR,
        "last": offer.proposal,
        "attempts": past,
    }
    return brief.model_copy(update=update), ground


def _back(run: Run, brief: Brief, ground: Ground, best: Attempt) -> tuple[Brief, Ground]:
    """The same, but on top of the best attempt there was."""
    run.progress("back", {"touched": best.patch.touched})
    verdict = best.verdict
    update = {
        "base": best.tree,
        "findings": verdict.told,
        "feedback": verdict.feedback,
        "strategy": Strategy.BACK,
    }
    ground = ground.model_copy(update={"tree": best.tree, "patch": best.patch})
    return brief.model_copy(update=update), ground


def landed(run: Run, state: State) -> Ended:
    """Put the passing tree where the user wants it; a moved base keeps the proposal and touches nothing."""
    assert state.last is not None  # only a judged proposal can pass
    if state.plan.place == "none":
        return state.ended(StopReason.SOLVED)
    run.progress("landing", {"touched": state.last.patch.touched})
    last = state.rounds[-1] if state.rounds else None  # a person may take what nothing could judge
    story = Repaired(
        run_id=run.id,
        task=state.plan.task.text,
        targets=state.targets,
        cause=last.summary if last else "",
        author=last.author if last else state.last.verdict.author,
    )
    try:
        done = deliver(run, state.plan, state.snapshot, state.last, story)
    except Rejected as refused:
        run.note(f"not landed: {refused}")
        return state.ended(StopReason.HUMAN_ABORT, note=str(refused))
    state.snapshot, state.last = done.base, done.attempt
    if done.moved:
        run.note(done.moved)
        return state.ended(StopReason.BASE_MOVED, note=done.moved, landing=done.landing)
    return state.ended(StopReason.SOLVED, landing=done.landing)
