"""The record as it grows: for whoever looks at runs from outside, again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

from referee.adapters.clock import SystemClock
from referee.api.past import summary_of
from referee.api.spec import Spec, known_in
from referee.api.stopping import ask_to_stop, asked_to_stop
from referee.config import load
from referee.domain.errors import WorldFault
from referee.domain.finding import Finding
from referee.domain.report import Outcome, RunSummary
from referee.domain.run_view import RunView
from referee.flows.verdicts import FINDINGS
from referee.kernel.seen import Judged, Seen
from referee.ports import Entry, Kind, RunRecord, RunState, Store
from referee.wiring import Desk, difference, open_store

_MOST = 16  # runs, diffs and reports that are kept as they were last read
_TAIL = 100  # entries at the end among which the last verdict is looked for


K = TypeVar("K")
V = TypeVar("V")


class _Lately(Generic[K, V]):
    """The values that were asked for last. One is made outside the lock: nobody else waits for it."""

    def __init__(self) -> None:
        self._kept: dict[K, V] = {}
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value, made now if it was not asked for lately."""
        with self._lock:
            if key in self._kept:
                self._kept[key] = self._kept.pop(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > _MOST:
                self._kept.pop(next(iter(self._kept)))
        return made


class Watch:
    """An opened record, read only but for the wish to stop a run. Safe to use from several threads."""

    def __init__(self, repo: str = ".") -> None:
        with Desk(repo, load(repo)) as desk:  # what cannot be used is told at once, not at the first click
            self.root, state, self._redaction = desk.workspace.root, desk.state, desk.redaction
        self._store: Store = open_store(state, self._redaction)
        self._clock = SystemClock()
        self._seen: _Lately[str, Seen] = _Lately()
        self._summaries: dict[str, tuple[RunState, RunSummary | None]] = {}  # of each run the last one only
        self._diffs: _Lately[tuple[str, str], str] = _Lately()
        self._views: _Lately[tuple[str, int], RunView] = _Lately()
        self._lock = threading.RLock()

    def runs(self) -> tuple[RunSummary, ...]:
        """The runs of the repository, newest first; those refused before they began are left out."""
        return tuple(s for s in map(self._brief, self._store.states()) if s is not None)

    def states(self) -> tuple[RunState, ...]:
        """How all runs stand, newest first: what changes when one began, ended or was taken up again."""
        return self._store.states()

    def run(self, run_id: str) -> RunView:
        """One run as it is now. Raises `UsageError` if it is unknown."""
        record = known_in(self._store, run_id)
        if record.status == "done" and record.outcome:
            return self._ended(record)
        return self._from_journal(record, self._folded(run_id))

    def state(self, run_id: str) -> tuple[str, int, bool]:
        """What changes when there is something new to see of a run, cheaply: its status, its entries, its stopping."""
        record = known_in(self._store, run_id)
        return record.status, self._store.last(run_id), asked_to_stop(self._store, record)

    def entries(self, run_id: str, after: int, most: int) -> tuple[Entry, ...]:
        """A part of a run's journal. Raises `UsageError` if the run is unknown."""
        known_in(self._store, run_id)
        part = self._store.entries(run_id, after, most)
        return tuple(e.model_copy(update={"payload": self._redaction.document(e.payload, forms=True)}) for e in part)

    def ended(self, run_id: str, keys: frozenset[str], after: int) -> tuple[Entry, ...]:
        """The endings of what was requested under `keys`, from the entries after a number on."""
        part = self._store.entries(run_id, after, 20 * max(1, len(keys)))
        return tuple(e for e in part if e.kind is Kind.ENDED and e.key in keys)

    def asked(self) -> tuple[tuple[str, int], ...]:
        """What changes when something was asked or answered, cheaply: the run and number of each such entry."""
        return tuple((run_id, entry.n) for run_id, entry in self._store.questions())

    def waiting(self) -> int:
        """How many runs wait for a person."""
        return sum(state.status == "waiting" for state in self._store.states())

    def stop(self, run_id: str) -> None:
        """Ask a running run to stop, as safely as Ctrl-C would. Raises `UsageError` if it does not run."""
        ask_to_stop(self._store, known_in(self._store, run_id), self._clock)

    def close(self) -> None:
        """Close the record."""
        self._store.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _brief(self, state: RunState) -> RunSummary | None:
        """The run's summary, made anew when it stands otherwise; None if it was refused before it began."""
        known = self._summaries.get(state.run_id)
        if known is None or known[0] != state:
            record = known_in(self._store, state.run_id)
            begun = record.status != "done" or record.outcome
            known = self._summaries[state.run_id] = (state, summary_of(record) if begun else None)
        return known[1]

    def _ended(self, record: RunRecord) -> RunView:
        """What the report says; its rows are many, so the last few are kept as they were read."""
        key = (record.run_id, record.fence)
        return self._views.get(key, lambda: self._from_report(record, Outcome.model_validate_json(record.outcome)))

    def _from_report(self, record: RunRecord, outcome: Outcome) -> RunView:
        report, last = outcome.report, self._store.last(record.run_id)
        tail = Seen()
        if not report.solved:
            tail.add(self._store.entries(record.run_id, max(0, last - _TAIL)))
        return RunView(
            summary=summary_of(record),
            targets=report.targets,
            budget=report.budget,
            spent=report.spent,
            rounds=report.iterations,
            findings=self._findings(tail.judged[-1] if tail.judged else None),
            feedback="" if report.solved else report.feedback,
            diff=outcome.diff,
            notes=report.notes,
            entries=last,
            explanation=report.explanation,
            analysis=report.analysis,
            alternatives=report.alternatives,
            landed=report.landed,
            isolation=report.isolation,
            usage=report.usage,
            generator=report.generator,
        )

    def _folded(self, run_id: str) -> Seen:
        """What the journal says, read on from where it was read to."""
        with self._lock:
            seen = self._seen.get(run_id, Seen)
            seen.add(self._store.entries(run_id, seen.last))
            return seen

    def _from_journal(self, record: RunRecord, seen: Seen) -> RunView:
        with self._lock:
            judged, notes, spent, doing = tuple(seen.judged), tuple(seen.notes), seen.spent, list(seen.open.values())
            opened = seen.opened
            spec = Spec.model_validate(opened["spec"]) if opened else Spec.model_validate_json(record.spec)
        running = record.status == "running"
        if running and seen.at:
            spent = spent.model_copy(update={"seconds": spent.seconds + max(0.0, self._clock.now() - seen.at)})
        last = judged[-1] if judged else None
        return RunView(
            summary=summary_of(record),
            targets=spec.task.targets,
            budget=spec.config.budget,
            spent=spent,
            rounds=tuple(j.row for j in judged),
            findings=self._findings(last),
            diff=self._diff(last),
            notes=tuple(dict.fromkeys(notes)),
            now=", ".join(dict.fromkeys(doing)) if running else "",
            stopping=running and asked_to_stop(self._store, record),
            entries=seen.last,
            generator=last.row.author if last else "",
        )

    def _findings(self, judged: Judged | None) -> tuple[Finding, ...]:
        if judged is None or not judged.findings:
            return ()
        try:
            return FINDINGS.validate_json(self._redaction.data(self._store.get(judged.findings), forms=True))
        except WorldFault:
            return ()  # the blob is gone; the row still tells what failed

    def _diff(self, judged: Judged | None) -> str:
        """The change that a step was judged with; empty once `referee gc` has dropped its trees."""
        if judged is None or not judged.after or judged.after == judged.before:
            return ""
        trees = (judged.before, judged.after)
        return self._diffs.get(trees, lambda: self._difference(*trees))

    def _difference(self, before: str, after: str) -> str:
        try:
            text = difference(self.root, load(self.root), before, after).decode("utf-8", "replace")
            return self._redaction.text(text, forms=True)
        except WorldFault:
            return ""
