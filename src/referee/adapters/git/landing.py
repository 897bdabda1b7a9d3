"""Landing and rolling back: comparing with what is on disk, then one transaction over what may change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from referee.adapters.git.clash import Side, clash, standing
from referee.adapters.git.entry import Entry
from referee.adapters.git.merge import Conflict, Merger
from referee.adapters.git.moves import Move, landable, missing_folders, unwritable
from referee.adapters.git.names import decode, shown
from referee.adapters.git.objects import Objects
from referee.adapters.git.private import Private, refused
from referee.adapters.git.records import LandingRecord, Mark, Moved, Records
from referee.adapters.git.rename import Point
from referee.adapters.git.root import Root
from referee.adapters.git.stage import Step, traits
from referee.adapters.git.transaction import LAND, ROLLBACK, Intent, Outcome, Transaction
from referee.adapters.git.undo import Plan
from referee.domain.errors import UsageError, WorldFault
from referee.ports import Landing, Restoration

TRIES = 5  # how often a rollback starts again because somebody edits at the same time


class Landings:
    """The only writer of the user's files."""

    def __init__(
        self, root: Root, private: Private, objects: Objects, records: Records, point: Point, merger: Merger
    ) -> None:
        self._root = root
        self._private = private
        self._objects = objects
        self._records = records
        self._unsaid: list[str] = []  # told by the next `recover`
        self._point = point
        self._merger = merger
        self._transaction = Transaction(root, private, point)

    def land(self, run_id: str, before: str, after: str) -> Landing:
        """Change the user's files from one tree to another, or report the paths that are not as in `before`."""
        with self._alone():
            record = self._effective(run_id)
            if record is not None:
                if (record.before, record.after) != (before, after):
                    raise UsageError(f"run {run_id} has landed already; referee rollback {run_id} undoes it")
                return _landing(record)
            moves = landable(self._private, before, after)
            conflicts = self._conflicts(moves)
            if conflicts or not moves:
                return Landing(how="tree", conflicts=conflicts)
            record = self._record(run_id, before, after, moves)
            steps = tuple(Step(path=m.path, expect=m.before, want=m.after) for m in moves)
            intent = Intent(kind=LAND, run_id=run_id, steps=steps, made=record.made)
            if self._settle(self._transaction.run(intent, self._objects.read)).done:
                return _landing(record)
            # Whoever interfered may have put the old content back by now; the landing did not happen all the same.
            return Landing(how="tree", conflicts=self._conflicts(moves) or tuple(decode(m.path) for m in moves))

    def landed(self, run_id: str) -> Landing | None:
        """The landing of a run that took effect and was not undone."""
        with self._alone():
            record = self._effective(run_id)
            return None if record is None else _landing(record)

    def recover(self) -> tuple[str, ...]:
        """End what a crash interrupted; what was done, in words."""
        with self._alone():
            said, self._unsaid = tuple(self._unsaid), []
            return said

    def rollback(self, run_id: str, *, merge: bool = False) -> Restoration:
        """Put back what a run landed, wherever it is still as landed; with `merge`, also beside other changes."""
        with self._alone():
            record = self._records.load(run_id, "landing", LandingRecord)
            if record is None or self._records.load(run_id, "landed", Mark) is None:
                if not self._records.known(run_id):
                    raise UsageError(f"nothing is kept of run {run_id}; snapshots are dropped after 7 days")
                return Restoration()
            for _ in range(TRIES):
                plan = Plan(self._root, self._private, run_id, record, self._blended if merge else _kept)
                if self._settle(self._transaction.run(plan.intent, plan.content)).done:
                    return self._with_clashes(run_id, record, plan.result())
            return self._with_clashes(run_id, record, plan.interrupted())

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the landing lock, with nothing of an earlier landing left open."""
        self._root.check()
        try:
            with self._private.locked(b"landing"):
                outcome = self._settle(self._transaction.recover())
                self._unsaid += _told(outcome)
                yield
        except OSError as error:
            fault = refused(error, self._root.path)
            if not self._transaction.open:
                raise type(fault)(f"{fault}; no file of yours is half changed") from error
            raise WorldFault(
                f"{fault}; of the files to change some may be new and others old: "
                "the next referee command here ends or undoes the change as a whole"
            ) from error

    def _settle(self, outcome: Outcome) -> Outcome:
        """Record what took effect before the transaction forgets it."""
        intent = outcome.intent
        if intent is not None and outcome.done:
            name = "landed" if intent.kind == LAND else "undone"
            self._records.save(intent.run_id, name, Mark(said=outcome.said))
            self._point(f"{name} durable")
        self._transaction.close(outcome)
        self._unsaid += outcome.said
        return outcome

    def _with_clashes(self, run_id: str, record: LandingRecord, done: Restoration) -> Restoration:
        """The result with both sides of each file that was left alone."""
        if not done.kept and not done.failed:
            return done
        kept = [m for m in record.moved if decode(m.path) in done.kept]
        clashes = []
        for moved in kept:
            both = clash(moved.path, moved.content, self._as_landed(moved), standing(self._root, moved.path))
            merges = self._blended(moved, self._root.observe(moved.path)) is not None
            clashes.append(both.model_copy(update={"merges": merges}))
        return done.model_copy(update={"clashes": tuple(clashes), "patch": decode(self._records.patch(run_id))})

    def _as_landed(self, moved: Moved) -> Side:
        if moved.after is None:
            return None
        try:
            return self._objects.read(moved.after.oid)
        except WorldFault:
            return "not kept any more"

    def _blended(self, moved: Moved, current: Entry | None) -> bytes | None:
        """The file with the run's part undone and somebody's kept; None where both changed the same lines."""
        landed, now = self._as_landed(moved), standing(self._root, moved.path)
        entries = (moved.before, moved.after, current)
        if not all(entry is not None and entry.regular for entry in entries) or moved.content is None:
            return None
        if not isinstance(landed, bytes) or not isinstance(now, bytes):
            return None
        try:
            return self._merger.contents(landed, now, moved.content)
        except Conflict:
            return None

    def _effective(self, run_id: str) -> LandingRecord | None:
        if self._records.load(run_id, "landed", Mark) is None or self._records.load(run_id, "undone", Mark) is not None:
            return None
        return self._records.load(run_id, "landing", LandingRecord)

    def _conflicts(self, moves: tuple[Move, ...]) -> tuple[str, ...]:
        return tuple(decode(m.path) for m in moves if not self._root.holds(m.path, m.before))

    def _record(self, run_id: str, before: str, after: str, moves: tuple[Move, ...]) -> LandingRecord:
        """All that an undo needs; durable before a file changes. Raises `UsageError` for what may not be written."""
        moved = []
        for move in moves:
            wrong = unwritable(self._root, self._private, move.path)
            if wrong is not None:
                raise UsageError(f"{shown(move.path)} {wrong}; nothing was changed")
            entry = Moved(path=move.path, before=move.before, after=move.after, content=None, permissions=None)
            if move.before is not None:
                were = traits(self._root, move.path).model_dump()
                entry = entry.model_copy(update={"content": self._objects.read(move.before.oid), **were})
            moved.append(entry)
        made = missing_folders(self._root, (m.path for m in moves))
        record = LandingRecord(before=before, after=after, moved=tuple(moved), made=made)
        self._records.keep_patch(run_id, patch_between(self._private, after, before))
        for name in ("landed", "undone"):
            self._records.drop(run_id, name)
        self._records.save(run_id, "landing", record)
        self._point("record durable")
        return record


def patch_between(private: Private, before: str, after: str) -> bytes:
    """A patch between two trees that `git apply` takes, from raw bytes."""
    plain = ("--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
    return private.git("diff-tree", "-r", "-p", *plain, "--src-prefix=a/", "--dst-prefix=b/", before, after)


def _kept(moved: Moved, current: Entry | None) -> None:
    """What somebody changed stays as it is."""


def _landing(record: LandingRecord) -> Landing:
    return Landing(how="tree", written=tuple(decode(m.path) for m in record.moved))


def _told(outcome: Outcome) -> tuple[str, ...]:
    intent = outcome.intent
    if intent is None:
        return ()
    names = ", ".join(shown(step.path) for step in intent.steps)
    what = {LAND: "landing", ROLLBACK: "rollback"}[intent.kind]
    if outcome.done:
        return (f"finished the interrupted {what} of run {intent.run_id}: {names}",)
    return (f"undid the interrupted {what} of run {intent.run_id}; these files are as they were: {names}",)
