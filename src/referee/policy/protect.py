"""Proposals stay inside the allowed source and away from whatever judges them (E2)."""

from __future__ import annotations

from typing import Any

from referee.actions.tree import Apply
from referee.domain.finding import Finding, FindingKind
from referee.domain.paths import objection
from referee.domain.protection import Protection
from referee.kernel.action import Action
from referee.kernel.policy import Deny, Policy, Ruling


def protect(protection: Protection) -> Policy:
    """Deny every patch that touches a path it may not; each such path is a finding of its own."""

    def ruling(action: Action[Any]) -> Ruling | None:
        if not isinstance(action, Apply):
            return None
        findings = tuple(
            Finding(kind=FindingKind.UNAUTHORISED, check="policy", id=path, path=path, rule="protected", message=why)
            for path in action.patch.touched
            if (why := objection(path) or protection.objection(path)) is not None
        )
        return Deny(findings=findings) if findings else None

    return ruling
