"""What every author is to the flows."""

from __future__ import annotations

from typing import Protocol

from referee.domain.brief import Brief, Offer
from referee.kernel.run import Run


class Author(Protocol):
    """Answers a brief with one offer.

    An author may use `run` for what it needs (models, commands in the sandbox), always through the gate.
    Asked again with the same brief and the same recorded results it must ask the gate for the same actions,
    because that is how a run is resumed. Raises `Exhausted` when the budget ends inside, or when a model
    cannot be brought to answer in the required form (`schema_failure`).
    """

    @property
    def name(self) -> str: ...
    def propose(self, run: Run, brief: Brief) -> Offer: ...
