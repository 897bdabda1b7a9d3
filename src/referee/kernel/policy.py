"""Rulings on actions, made before they happen. One policy serves both flows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from referee.domain.errors import Rejected
from referee.domain.finding import Finding
from referee.domain.value import Value
from referee.kernel.action import Action


class Allow(Value):
    """The action may happen."""


class Deny(Value):
    """The action may not happen; the findings say what was asked, which rule forbids it, and what is allowed."""

    findings: tuple[Finding, ...]


Ruling = Allow | Deny
Policy = Callable[[Action[Any]], Ruling | None]


def rule(policies: Sequence[Policy], action: Action[Any]) -> None:
    """Raise `Rejected` if any policy denies the action; a policy that returns None abstains."""
    for policy in policies:
        ruling = policy(action)
        if isinstance(ruling, Deny):
            raise Rejected(ruling.findings)
