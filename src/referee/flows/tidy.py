"""The linters' own fixes on the whole repository, landed like any other change; what they leave is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from referee.actions.tree import Apply, LandTree, PrepareBase, TakeSnapshot
from referee.authors.mechanical import mended
from referee.domain.brief import Offer
from referee.domain.changes import Work
from referee.domain.errors import Exhausted, Rejected, UsageError
from referee.domain.protection import Protection
from referee.domain.reason import StopReason
from referee.flows.attempt import verdict
from referee.flows.plan import Ended, Round
from referee.flows.verdicts import enter
from referee.judge import Bench, linted
from referee.kernel.run import Run
from referee.ports import Base, Landing, Snapshot

AUTHOR = "mechanical"


@dataclass(frozen=True, kw_only=True)
class Tidying:
    """What tidying is given: `prepare` finds the linters in a base; with `land` the result goes to the user's files."""

    protection: Protection
    prepare: Callable[[Run, Base], Bench]
    land: bool


def tidy(run: Run, plan: Tidying) -> Ended:
    """Let the fixers work once, look at what is left, and land what they did.

    It is solved if what they mend is where the user wanted it: findings that are left are the round's.
    """
    snapshot = run.perform(TakeSnapshot(run_id=run.id, settled=plan.land))
    run.progress("opened", {"task": "tidy", "targets": (), "tree": snapshot.tree})
    if snapshot.left_out:
        run.note(snapshot.left_out)
    try:
        base = run.perform(PrepareBase(tree=snapshot.tree, protection=plan.protection))
        return _tidied(run, plan, snapshot, plan.prepare(run, base))
    except Exhausted as spent:
        run.note(f"stopped ({spent.reason.value}): {spent}")
        return Ended(reason=spent.reason, note=str(spent), snapshot=snapshot, generator=AUTHOR)


def _tidied(run: Run, plan: Tidying, snapshot: Snapshot, bench: Bench) -> Ended:
    done = _work(run, plan, bench)
    tree = run.perform(Apply(base=snapshot.tree, patch=done.patch)) if done.patch.changes else snapshot.tree
    after = run.perform(PrepareBase(tree=tree, protection=plan.protection)) if done.patch.changes else bench.base
    results = linted(run, bench.project, after, bench.settings)
    if not results:
        raise UsageError("there is no file here that the linters look at; see `referee check --plan`")
    offer = Offer(author=AUTHOR, patch=done.patch, undone=done.undone, judged=1)
    said = verdict(offer, results, done.patch.touched)
    enter(run, 1, said, (snapshot.tree, tree))
    for each in done.undone:
        run.note(each.message)
    ended = Ended(
        reason=StopReason.SOLVED, rounds=(Round(step=1, author=AUTHOR, verdict=said),), snapshot=snapshot, tree=tree,
        patch=done.patch, judged=1, generator=AUTHOR,
    )  # fmt: skip
    if not done.patch.changes:
        reason = StopReason.NOT_REPRODUCED if said.passed else StopReason.NON_PROGRESS
        return ended.model_copy(update={"reason": reason, "note": "the fixers change nothing"})
    return _landed(run, plan, ended) if plan.land else ended


def _work(run: Run, plan: Tidying, bench: Bench) -> Work:
    tool = bench.project.tools.get("ruff")
    paths = run.paths(bench.base.tree)
    scope = sorted({p.partition("/")[0] for p in paths if p.endswith((".py", ".pyi"))})
    if tool is None or not scope:
        return Work()
    try:
        return mended(run, bench, plan.protection, (bench.base.tree, tool), scope)
    except Rejected as refused:
        run.note(str(refused))
        return Work()


def _landed(run: Run, plan: Tidying, ended: Ended) -> Ended:
    assert ended.snapshot is not None  # taken at the beginning
    run.progress("landing", {"touched": ended.patch.touched})
    try:
        landing: Landing = run.perform(LandTree(run_id=run.id, before=ended.snapshot.tree, after=ended.tree))
    except Rejected as refused:
        run.note(f"not landed: {refused}")
        return ended.model_copy(update={"reason": StopReason.HUMAN_ABORT, "note": str(refused)})
    if landing.conflicts:
        note = f"{', '.join(landing.conflicts)} changed meanwhile; nothing was written"
        return ended.model_copy(update={"reason": StopReason.BASE_MOVED, "note": note, "landing": landing})
    return ended.model_copy(update={"landing": landing})
