"""A question to a person as a component."""

from __future__ import annotations

from referee.domain.component.values import Approval
from referee.domain.question import Asked, Asking


def approval(asked: Asked) -> Approval:
    """What every rendering shows of it; the digest shown is the digest signed."""
    return Approval(
        id=asked.id,
        run_id=asked.run_id,
        sort=asked.kind.value,
        summary=asked.summary,
        shown=asked.shown,
        digest=asked.digest,
        expires_at=asked.expires_at,
        status=asked.status,
        demands="ssh" if asked.kind is Asking.SIGNATURE and asked.demand.only_ssh else "answer",
        commands=(command(asked),),
    )


def command(asked: Asked) -> str:
    """What to type to answer it."""
    if asked.kind is Asking.SIGNATURE:
        return f"referee sign {asked.id}" + (" --ssh-key FILE" if asked.demand.only_ssh else "")
    return f"referee answer {asked.id} " + ("TEXT" if asked.kind is Asking.QUESTION else "yes|no")
