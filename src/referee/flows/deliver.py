"""From a tree that passed to where the user wants it, also when they have edited their files in the meantime."""

from __future__ import annotations

from referee.actions.tree import LandCommit, LandTree, Merge, PrepareBase, TakeSnapshot
from referee.domain.commit_message import Repaired, commit_message
from referee.domain.errors import Exhausted, UsageError
from referee.domain.reason import StopReason
from referee.domain.value import Value
from referee.domain.verdict import blocking
from referee.flows.attempt import Attempt, examined
from referee.flows.evaluate import opinion
from referee.flows.plan import Plan
from referee.kernel.run import Run
from referee.ports import Commit, Landing, Snapshot

LOOKS = 3  # how often a landing starts again because the user edits at the same time
NOT_YET = "nothing was written, the proposal is kept as a patch"
ENDS_THE_RUN = (
    StopReason.TIMEOUT,
    StopReason.STEPS_EXHAUSTED,
    StopReason.TOKEN_EXHAUSTED,
    StopReason.COST_TRIPPED,
)


class Delivered(Value):
    """Where it went: onto which base, as which attempt. `moved` says why nothing was written, if nothing was."""

    base: Snapshot
    attempt: Attempt
    landing: Landing | None = None
    moved: str = ""


def deliver(run: Run, plan: Plan, base: Snapshot, attempt: Attempt, story: Repaired) -> Delivered:
    """Land `attempt`, made for `base`.

    Files that the user changed elsewhere stay out of it, loudly. If they changed the same files, or committed, the two
    are merged and the whole is judged again; if that cannot be, nothing is written.
    """
    if plan.place.startswith("branch:"):
        beside = _landed(run, plan, base, attempt, story)
        moved = f"the branch {plan.place[7:]} was made meanwhile; {NOT_YET}" if beside.conflicts else ""
        return Delivered(base=base, attempt=attempt, landing=beside, moved=moved)
    landing: Landing | None = None
    for look in range(1, LOOKS + 1):
        now = run.perform(TakeSnapshot(run_id=run.id))
        edited = run.changed(base.tree, now.tree)
        touched = [p for p in edited if p in attempt.patch.touched]
        if touched or (plan.place == "commit" and now.head != base.head):
            what = ", ".join(touched) or "HEAD"
            joined = _joined(run.branch(f"again{look}"), plan, (base, now), attempt)
            if isinstance(joined, str):
                return Delivered(base=base, attempt=attempt, moved=f"{what} changed while the run worked; {joined}")
            run.note(f"{what} changed while the run worked; merged with the repair and judged again")
            base, attempt, edited = now, joined, ()
        landing = _landed(run, plan, base, attempt, story)
        if not landing.conflicts:
            _tell_apart(run, edited)
            return Delivered(base=base, attempt=attempt, landing=landing)
    assert landing is not None
    moved = f"{', '.join(landing.conflicts)} changed while the run worked; {NOT_YET}"
    return Delivered(base=base, attempt=attempt, landing=landing, moved=moved)


def _landed(run: Run, plan: Plan, base: Snapshot, attempt: Attempt, story: Repaired) -> Landing:
    run.progress("land", {"before": base.tree, "after": attempt.tree})
    if plan.place == "tree":
        return run.perform(LandTree(run_id=run.id, before=base.tree, after=attempt.tree))
    touched = attempt.patch.touched
    apart = tuple(p for p in run.changed(base.head, base.tree) if p not in touched)
    if apart:
        run.note(f"the judge saw uncommitted changes that are not in the commit: {_some(apart)}")
    told = story.model_copy(update={"touched": touched, "results": attempt.verdict.results, "apart": apart})
    branch = plan.place.partition(":")[2]
    commit = Commit(parent=base.head, message=commit_message(told), branch=branch)
    return run.perform(LandCommit(run_id=run.id, before=base.tree, after=attempt.tree, commit=commit))


def _joined(run: Run, plan: Plan, bases: tuple[Snapshot, Snapshot], attempt: Attempt) -> Attempt | str:
    """The attempt on top of what the user has now, judged from scratch; or why not, in words."""
    before, now = bases
    merged = run.perform(Merge(base=before.tree, ours=now.tree, theirs=attempt.tree))
    if merged.conflicts:
        return f"the same lines of {', '.join(merged.conflicts)} as the repair, so {NOT_YET}"
    try:
        bench = plan.prepare(run, run.perform(PrepareBase(tree=now.tree, protection=plan.protection)))
        patch = run.between(now.tree, merged.tree)
        results = examined(run, bench, patch, pressed=False)
        if plan.evaluator is not None and all(r.clear for r in results):
            results = (*results, opinion(run, plan.evaluator, bench, (merged.tree, results), pressed=False))
    except Exhausted as spent:
        if spent.reason in ENDS_THE_RUN:
            raise
        return f"judged again with your edits: {spent}; {NOT_YET}"
    except UsageError as unfit:
        # Your edits may have taken away what the judge needs; that is no reason to lose a finished repair.
        return f"judged again with your edits: {unfit}; {NOT_YET}"
    if not all(r.clear for r in results):
        against = next((f.message for f in blocking(results)), "a check did not pass")
        return f"together with your edits the repair does not pass ({against[:200]}); {NOT_YET}"
    verdict = attempt.verdict.model_copy(update={"results": results, "touched": patch.touched})
    return Attempt(verdict=verdict, tree=merged.tree, patch=patch)


def _tell_apart(run: Run, edited: tuple[str, ...]) -> None:
    if edited:
        run.note(
            f"you changed other files while the run worked, and the repair was judged without that: {_some(edited)}"
        )


def _some(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return ", ".join(paths[:5]) + more
