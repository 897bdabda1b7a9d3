"""Write tests: they pass now, alike every time, break no other test, and notice faults in the code they cover."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from referee.actions.step import ChargeStep, Gauge
from referee.actions.tree import PrepareBase, TakeSnapshot
from referee.authors.mutants import score, verdict_on
from referee.domain.brief import Attempted, Brief, Offer, Strategy
from referee.domain.commit_message import Repaired
from referee.domain.cost import HIGH_PRESSURE, Cost
from referee.domain.decision import Land, Repair, Stop, decide
from referee.domain.errors import Exhausted, Rejected
from referee.domain.finding import Finding, FindingKind
from referee.domain.patch import Patch
from referee.domain.reason import StopReason
from referee.domain.verdict import CheckResult, CheckState, Verdict
from referee.flows.attempt import Attempt, Ground, applied, nothing, refusal, verdict
from referee.flows.deliver import deliver
from referee.flows.plan import Ended, Plan, Round
from referee.flows.verdicts import enter
from referee.judge import Bench, fresh
from referee.judge.seen import Seen, look
from referee.kernel.run import Run
from referee.ports import Base, Snapshot

RULES = (
    "Write new tests, in new files named test_*.py beside the tests that are there, and change nothing else. They must "
    "pass on the code as it is, fail when the code that they cover is broken, and depend on no time, order or chance."
)
Prepare = Callable[[Run, Base], Bench]


@dataclass(kw_only=True)
class _State:
    plan: Plan
    prepare: Prepare
    snapshot: Snapshot
    before: Seen
    rounds: list[Round] = field(default_factory=list)
    ids: tuple[str, ...] = ()
    last: Attempt | None = None
    generator: str = ""

    def ended(self, reason: StopReason, note: str = "") -> Ended:
        last = self.last or Attempt(verdict=Verdict(author="", proposed=False, passed=False))
        return Ended(
            reason=reason, note=note, rounds=tuple(self.rounds), targets=self.ids, snapshot=self.snapshot,
            tree=last.tree, patch=last.patch, judged=len(self.rounds), generator=self.generator,
        )  # fmt: skip


def complete(run: Run, plan: Plan, prepare: Prepare) -> Ended:
    """Run until an author's tests are good, and land them. `prepare` makes a bench without any target."""
    snapshot = run.perform(TakeSnapshot(run_id=run.id))
    run.progress("opened", {"task": plan.task.text, "targets": (), "tree": snapshot.tree})
    try:
        base = run.perform(PrepareBase(tree=snapshot.tree, protection=plan.protection))
        bench = prepare(run, base)
        state = _State(plan=plan, prepare=prepare, snapshot=snapshot, before=look(run, bench))
    except Exhausted as spent:
        return Ended(reason=spent.reason, note=str(spent), snapshot=snapshot)
    try:
        return _play(run, state, bench)
    except Exhausted as spent:
        run.note(f"stopped ({spent.reason.value}): {spent}")
        return state.ended(spent.reason, str(spent))


def _play(run: Run, state: _State, bench: Bench) -> Ended:
    player = next(iter(state.plan.players(bench)))
    state.generator = player.kind
    task = state.plan.task
    text = f"{task.text.strip()}\n\n{RULES}".strip()
    brief = Brief(task=task.model_copy(update={"text": text}), base=bench.base.tree, targets=(), feedback="")
    history: list[Verdict] = []
    while True:
        view = run.perform(Gauge(view=run.view))
        if (refused := view.refusal(Cost(steps=1))) is not None:
            return state.ended(refused)
        author = player.fixer if history else player.generator
        left = view.budget.max_steps - view.spent.steps
        told = {"pressed": view.pressure > HIGH_PRESSURE, "steps_left": left}
        run.progress(
            "round", {"step": len(history) + 1, "author": author.name, "targets": (), "generator": player.kind}
        )
        offer = author.propose(run, brief.model_copy(update=told))
        if not offer.paid:
            run.perform(ChargeStep(author=author.name))
        tried = _tried(run, state, bench, offer)
        history.append(tried.verdict)
        view = run.perform(Gauge(view=run.view))
        decision = decide(history, view)
        run.decided(decision, view)
        if isinstance(decision, Land):
            return _land(run, state, tried)
        if not isinstance(decision, Repair):
            reason = decision.reason if isinstance(decision, Stop) else StopReason.NON_PROGRESS
            return state.ended(reason, getattr(decision, "note", ""))
        brief = _next(brief, tried.verdict, offer)


def _next(brief: Brief, said: Verdict, offer: Offer) -> Brief:
    """The next brief: always for the tree as it was, since the last proposal's files are not in it."""
    outcome = said.told[0].message if said.told else said.note
    past = Attempted(touched=said.touched, root_cause="", outcome=outcome)
    update = {
        "feedback": said.feedback, "findings": said.told, "strategy": Strategy.REPAIR, "last": offer.proposal,
        "attempts": (*brief.attempts, past),
    }  # fmt: skip
    return brief.model_copy(update=update)


def _tried(run: Run, state: _State, bench: Bench, offer: Offer) -> Attempt:
    """One offer of tests, judged. What the author did wrong is a finding, never an exception."""
    made = _judged(run, state, bench, offer) if offer.proposed else Attempt(verdict=nothing(offer))
    if made.tree or state.last is None:
        state.last = made
    summary = offer.proposal.root_cause if offer.proposal else made.verdict.note
    number = len(state.rounds) + 1
    state.rounds.append(Round(step=number, author=offer.author, verdict=made.verdict, summary=summary))
    enter(run, number, made.verdict, (state.snapshot.tree, made.tree))
    return made


def _judged(run: Run, state: _State, bench: Bench, offer: Offer) -> Attempt:
    ground = Ground(tree=bench.base.tree, protection=state.plan.protection)
    try:
        patch, tree = applied(run, bench.base.tree, ground, offer)
        _only_new(run, bench, patch)
    except Rejected as refused:
        asked = tuple(f.path for f in offer.proposal.files) if offer.proposal else ()
        return Attempt(verdict=verdict(offer, (refusal(refused.findings),), asked))
    base = run.perform(PrepareBase(tree=tree, protection=state.plan.protection))
    found = fresh(run, state.prepare(run, base), patch.touched, state.before)
    results: tuple[CheckResult, ...] = found.results
    if found.clear:
        noticed = score(run, found.bench, state.plan.protection)
        run.note(noticed.words)
        results = (*results, verdict_on(noticed))
    state.ids = found.ids if all(r.state is CheckState.PASS for r in results) else ()
    judged = verdict(offer, results, patch.touched).model_copy(update={"patch_digest": patch.digest})
    return Attempt(verdict=judged, tree=tree, patch=patch)


def _only_new(run: Run, bench: Bench, patch: Patch) -> None:
    """Tests that are there already are nobody's to change. Raises `Rejected`."""
    there = set(run.paths(bench.base.tree))
    findings = tuple(
        Finding(
            kind=FindingKind.UNAUTHORISED, check="policy", id=c.path, path=c.path, rule="existing",
            message=f"{c.path} is there already; new tests go into a new file",
        )
        for c in patch.changes if c.path in there
    )  # fmt: skip
    if findings:
        raise Rejected(findings)


def _land(run: Run, state: _State, tried: Attempt) -> Ended:
    if state.plan.place == "none":
        return state.ended(StopReason.SOLVED)
    run.progress("landing", {"touched": tried.patch.touched})
    last = state.rounds[-1]
    story = Repaired(
        run_id=run.id, task=state.plan.task.text or "Add tests", targets=(), cause="", author=last.verdict.author
    )
    try:
        done = deliver(run, state.plan, state.snapshot, tried, story)
    except Rejected as refused:
        run.note(f"not landed: {refused}")
        return state.ended(StopReason.HUMAN_ABORT, str(refused))
    state.snapshot, state.last = done.base, done.attempt
    if done.moved:
        run.note(done.moved)
    ended = state.ended(StopReason.BASE_MOVED if done.moved else StopReason.SOLVED, done.moved)
    return ended.model_copy(update={"landing": done.landing})
