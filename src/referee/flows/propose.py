"""Do one thing outside, after a person has signed it."""

from __future__ import annotations

from referee.actions.outside import CallOutside
from referee.actions.tree import TakeSnapshot
from referee.domain.errors import Exhausted, Rejected
from referee.domain.outside import Proposal, Receipt
from referee.domain.reason import StopReason
from referee.flows.plan import Ended
from referee.kernel.run import Run
from referee.ports import Landing

_REASONS = {
    "done": StopReason.SOLVED,
    "failed": StopReason.NON_PROGRESS,
    "unknown": StopReason.NEEDS_SIGNATURE,  # a person must look before anybody tries again
}


def propose(run: Run, proposal: Proposal) -> Ended:
    """Ask, wait, send, tell. Leaves as `Suspended` until there is an answer."""
    snapshot = run.perform(TakeSnapshot(run_id=run.id, settled=False))
    try:
        receipt = run.perform(CallOutside(proposal=proposal, tree=snapshot.tree))
    except Rejected as refused:
        return Ended(reason=StopReason.HUMAN_ABORT, note=str(refused), snapshot=snapshot, generator="person")
    except Exhausted as spent:
        return Ended(reason=spent.reason, note=str(spent), snapshot=snapshot, generator="person")
    landing = Landing(how=f"outside:{proposal.request.tool}") if receipt.status == "done" else None
    return Ended(
        reason=_REASONS[receipt.status], note=_told(receipt), snapshot=snapshot, generator="person", landing=landing
    )


def _told(receipt: Receipt) -> str:
    if receipt.status == "unknown":
        return f"unknown whether it took effect: {receipt.said}; it is not tried again; check {receipt.check}"
    return receipt.said if receipt.status == "done" else f"failed, and nothing was changed: {receipt.said}"
