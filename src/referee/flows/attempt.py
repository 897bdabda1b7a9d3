"""One attempt: an offer becomes a patch, the patch is judged layer by layer, and the results are a verdict."""

from __future__ import annotations

from referee.actions.tree import Apply
from referee.domain.brief import Offer
from referee.domain.errors import Rejected
from referee.domain.finding import Finding, FindingKind
from referee.domain.layer import Layer
from referee.domain.patch import FileChange, Patch, composed
from referee.domain.paths import objection
from referee.domain.proposal import PatchProposal
from referee.domain.protection import Protection
from referee.domain.resolve import resolve
from referee.domain.value import Value
from referee.domain.verdict import CheckResult, CheckState, Verdict, blocking, fingerprint
from referee.judge import Bench, compress, try_gate, try_loop
from referee.kernel.run import Run

WORD = "the author's word"


class Attempt(Value):
    """A judged offer: the verdict, and the tree and whole patch (from the run's base) if it could be applied."""

    verdict: Verdict
    tree: str = ""
    patch: Patch = Patch()


class Ground(Value):
    """What a proposal is made for: a tree, the patch that leads to it from the run's base, and what is off limits."""

    tree: str
    protection: Protection
    patch: Patch = Patch()

    def objection(self, path: str) -> str | None:
        """Why a proposal may not even ask for `path`."""
        return objection(path) or self.protection.objection(path)


def attempt(run: Run, bench: Bench, ground: Ground, offer: Offer, pressed: bool) -> Attempt:
    """Judge one offer. What the author did wrong is a finding, never an exception."""
    if not offer.proposed:
        return Attempt(verdict=nothing(offer))
    try:
        patch, tree = applied(run, bench.base.tree, ground, offer)
    except Rejected as refused:
        asked = offer.patch.touched if offer.patch else _named(offer.proposal)
        return Attempt(verdict=verdict(offer, (refusal(refused.findings),), asked))
    results = examined(run, bench, patch, pressed)
    judged = verdict(offer, results, patch.touched).model_copy(update={"patch_digest": patch.digest})
    return Attempt(verdict=judged, tree=tree, patch=patch)


def _named(proposal: PatchProposal | None) -> tuple[str, ...]:
    return tuple(sorted(f.path for f in proposal.files)) if proposal else ()


def examined(run: Run, bench: Bench, patch: Patch, pressed: bool) -> tuple[CheckResult, ...]:
    """What every layer says, up to the first that fails: the loop's, then the gate's."""
    parts = bench.settings.parts
    if not parts.judge:
        said = CheckResult(check=WORD, layer=Layer.FORMAT, state=CheckState.PASS, note="nothing was checked")
        return (said,)
    run.progress("check", {"what": "the loop's checks", "touched": patch.touched})
    results = try_loop(run, bench, patch, pressed)
    if parts.gate and all(r.clear for r in results):
        run.progress("check", {"what": "the gate", "touched": patch.touched})
        results = (*results, *try_gate(run, bench, patch, pressed))
    return results


def _external() -> Finding:
    return Finding(
        kind=FindingKind.UNAUTHORISED, check="proposal", rule="external",
        message="the proposal says that it touches outside systems, which needs a person's signature; "
        "propose a change of the repository's files only",
    )  # fmt: skip


def applied(run: Run, base: str, ground: Ground, offer: Offer) -> tuple[Patch, str]:
    """The patch since `base` that an offer makes, and the tree. Raises `Rejected` if it may not or cannot be made."""
    patch = offer.patch or _resolved(run, ground, offer.proposal)
    # The policy rules on what this author asked for, the judge on everything since the base.
    tree = run.perform(Apply(base=ground.tree, patch=patch))
    return _effective(run, base, composed(ground.patch, patch)), tree


def _resolved(run: Run, ground: Ground, proposal: PatchProposal | None) -> Patch:
    assert proposal is not None  # there is a proposal where there is no patch
    if proposal.touches_external:
        raise Rejected((_external(),))
    return resolve(
        proposal,
        read=lambda path: run.read(ground.tree, path),
        executable=lambda path: run.executable(ground.tree, path),
        paths=run.paths(ground.tree),
        forbidden=ground.objection,
    )


def _effective(run: Run, base: str, patch: Patch) -> Patch:
    """The patch without what it leaves as in the base, such as a file that one attempt made and the next removed."""

    def changes(change: FileChange) -> bool:
        if change.after is None:
            return change.path in run.paths(base)
        same = run.read(base, change.path) == change.after.data
        return not same or run.executable(base, change.path) != change.after.executable

    return Patch(changes=tuple(c for c in patch.changes if changes(c)))


def nothing(offer: Offer) -> Verdict:
    """The verdict on an author that had nothing to propose this time."""
    return Verdict(
        author=offer.author,
        proposed=False,
        passed=False,
        findings=offer.findings,
        fingerprint=fingerprint(offer.findings),
        judged=offer.judged,
        exhausted=offer.exhausted,
        note=offer.note,
    )


def verdict(offer: Offer, results: tuple[CheckResult, ...], touched: tuple[str, ...]) -> Verdict:
    """Draw the verdict from what the checks said. Only checks that ran and passed, all of them, acquit (D2)."""
    against = blocking(results)
    failing = next((r for r in results if not r.clear), None)
    passed = bool(results) and failing is None and not against
    shown = failing or results[-1]
    return Verdict(
        author=offer.author,
        proposed=True,
        passed=passed,
        layer=shown.layer,
        results=results,
        findings=against,
        fingerprint=fingerprint(against),
        touched=touched,
        feedback="" if passed else compress(results),
        exit_code=shown.exit_code,
        killed_by=failing.killed_by if failing else None,
        duration_ms=sum(r.duration_ms for r in results),
        isolation=next((r.isolation for r in results if r.isolation), ""),
        judged=offer.judged or 1,
        note=offer.note,
        doubt=offer.doubt,
        undone=offer.undone,
    )


def refusal(findings: tuple[Finding, ...]) -> CheckResult:
    """A proposal that was refused before any check could look at it, in the form of a check's result."""
    return CheckResult(check="proposal", layer=Layer.FORMAT, state=CheckState.FAIL, findings=findings)
