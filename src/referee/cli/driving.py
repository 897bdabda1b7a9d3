"""What a worker's child does: one piece of work, with signals as everywhere else."""

from __future__ import annotations

from referee.adapters.engine.work import Said, Work
from referee.api.engine import perform
from referee.cli.signals import cancellable
from referee.domain.errors import Cancelled


def do(work: Work) -> Said:
    """Carry it forward; SIGTERM stops it as Ctrl-C does."""
    try:
        with cancellable():
            return perform(work)
    except Cancelled:  # before anything had begun
        return Said(how="stopped")
