"""What stands for a hidden secret is never written or sent in its place."""

from __future__ import annotations

from typing import Any

from referee.actions.outside import CallOutside
from referee.actions.tree import Apply
from referee.domain.finding import Finding, FindingKind
from referee.domain.redaction import Redaction
from referee.kernel.action import Action
from referee.kernel.policy import Deny, Policy, Ruling

_REQUEST = "the request"


def unhidden(redaction: Redaction) -> Policy:
    """Deny a patch or a request that holds the mark of a hidden secret: whoever made it was not shown the secret."""

    def ruling(action: Action[Any]) -> Ruling | None:
        if isinstance(action, Apply):
            texts = {c.path: c.after.data.decode("utf-8", "replace") for c in action.patch.changes if c.after}
        elif isinstance(action, CallOutside):
            texts = {_REQUEST: action.proposal.model_dump_json()}
        else:
            return None
        found = tuple(_finding(what, mark) for what, text in texts.items() for mark in redaction.named(text))
        return Deny(findings=found) if found else None

    return ruling


def _finding(what: str, mark: str) -> Finding:
    path = "" if what == _REQUEST else what
    return Finding(
        kind=FindingKind.UNAPPLIABLE, check="policy", id=what, path=path, rule="hidden",
        message=f"{what} would hold {mark}, which stands for a secret that is not shown; leave that line as it is",
    )  # fmt: skip
