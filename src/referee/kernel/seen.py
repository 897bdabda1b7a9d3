"""What a journal says of a run that goes on: a fold over its entries, a part at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from referee.domain.cost import Cost
from referee.domain.report import Iteration
from referee.ports import Entry, Kind

VERDICT = "verdict:"  # in the keys of entries that record a verdict


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A verdict as it was entered: the row, the blob with its findings, and the trees that it was about."""

    row: Iteration
    findings: str
    before: str
    after: str


@dataclass(kw_only=True)
class Seen:
    """Everything folded so far. `last` is the number of the last entry, `at` its time."""

    last: int = 0
    at: float = 0.0
    opened: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    _paid: Cost = field(default_factory=Cost)
    judged: list[Judged] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)  # what was begun and has not ended: action by key

    def add(self, entries: Sequence[Entry]) -> None:
        """Fold the entries that follow."""
        for entry in entries:
            self._add(entry)
        if entries:
            self.at = datetime.fromisoformat(entries[-1].at).timestamp()

    def _add(self, entry: Entry) -> None:
        self.last = entry.n
        if entry.kind is Kind.REQUESTED:
            self.open[entry.key] = entry.action
            return
        facts = json.loads(entry.payload)
        if entry.kind is Kind.ENDED:
            self.open.pop(entry.key, None)
            self._charge(facts["cost"], facts["elapsed"])
        elif entry.kind is Kind.OPENED and "spec" in facts:
            self.opened, self.open = facts, {}
        elif VERDICT in entry.key and "iteration" in facts:
            row = Iteration.model_validate(facts["iteration"])
            found = facts.get("findings", "")
            self.judged.append(
                Judged(row=row, findings=found, before=facts.get("before", ""), after=facts.get("after", ""))
            )
        elif entry.kind is Kind.NOTED and facts.get("text") and "note:" in entry.key:
            self.notes.append(str(facts["text"]))

    def _charge(self, cost: dict[str, Any], elapsed: float) -> None:
        """Most endings cost nothing but time, and there are many."""
        self.seconds = max(self.seconds, elapsed)
        if any(value not in (0, "0", 0.0) for value in cost.values()):
            self._paid += Cost.model_validate(cost)

    @property
    def spent(self) -> Cost:
        """The cost on all axes, up to the last ending."""
        return self._paid.model_copy(update={"seconds": self.seconds})
