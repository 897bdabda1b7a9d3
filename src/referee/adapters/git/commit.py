"""Landing as a commit: files, index and branch together, or none of them, whatever kills the process in between.

What is about to happen is written down first. Then the files land (a transaction of its own), then the branch moves
by compare-and-swap under git's lock of the index, then the index follows. Recovery goes on where the files have
landed and the branch is where it was; if the branch has moved it puts the files back. A branch beside the current one
is a single compare-and-swap.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from referee.adapters.git.commit_log import CommitLog, CommitRecord
from referee.adapters.git.compose import Composer
from referee.adapters.git.history import HEADS, History
from referee.adapters.git.index import Index
from referee.adapters.git.landing import Landings
from referee.adapters.git.moves import landable
from referee.adapters.git.private import Private, refused
from referee.adapters.git.records import Records
from referee.adapters.git.rename import Point
from referee.adapters.git.root import Root
from referee.adapters.git.takeback import TakeBack
from referee.domain.errors import UsageError, WorldFault
from referee.ports import Commit, Landing, Restoration


class Commits:
    """The only writer of the user's branches and index."""

    def __init__(
        self,
        store: tuple[Root, Private, Records],
        history: History,
        composer: Composer,
        landings: Landings,
        point: Point,
    ) -> None:
        self._root, self._private, records = store
        self._history = history
        self._index = Index(history)
        self._composer = composer
        self._landings = landings
        self._log = CommitLog(self._private, records, point)
        self._back = TakeBack(history, self._index, landings, self._log, point)
        self._point = point
        self._unsaid: list[str] = []  # told by the next `recover`

    def commit(self, run_id: str, before: str, after: str, commit: Commit) -> Landing:
        """Commit what changes between two trees; on the current branch the files, too. Conflicts change nothing."""
        with self._alone():
            done = self._log.made(run_id)
            if done is not None:
                return done.landing()
            current = self._history.branch()
            if not commit.branch and not (current and self._history.head() == commit.parent):
                return Landing(how="commit", conflicts=("HEAD",))
            moves = landable(self._private, before, after)
            changes = self._composer.changes(moves, commit.parent)
            staged = () if commit.branch else self._composer.restaged(changes, self._index)
            record = CommitRecord(
                run_id=run_id,
                ref=HEADS + commit.branch if commit.branch else current,
                parent=commit.parent,
                revision=self._composer.commit(changes, commit),
                new_branch=bool(commit.branch),
                paths=tuple(m.path for m in moves),
                staged=staged,
            )
            self._log.intend(record)
            if record.new_branch:
                return self._make_branch(record)
            try:
                landing = self._landings.land(run_id, before, after)
            except UsageError:  # refused; after a fault of the disk recovery looks what became of the files
                self._log.forget()
                raise
            if landing.conflicts:
                self._log.forget()
                return landing.model_copy(update={"how": "commit"})
            return self._finish(record)

    def landed(self, run_id: str) -> Landing | None:
        """The commit of a run that was made and not taken back."""
        with self._alone():
            record = self._log.made(run_id)
            return None if record is None else record.landing()

    def recover(self) -> tuple[str, ...]:
        """End what a crash interrupted; what was done, in words."""
        with self._alone():
            said, self._unsaid = tuple(self._unsaid), []
            return said

    def rollback(self, run_id: str, *, merge: bool = False) -> Restoration:
        """Take a commit back as long as nothing builds on it; then the files, as for any landing."""
        with self._alone():
            record = self._log.made(run_id)
            if record is None:
                return self._landings.rollback(run_id, merge=merge)
            if record.new_branch:
                return self._back.branch(record)
            self._back.check(record)
            self._log.intend(record.model_copy(update={"undoing": True}))
            return self._back.commit(record)

    # --- forward -------------------------------------------------------------------------------------------

    def _make_branch(self, record: CommitRecord) -> Landing:
        made = self._history.move(record.ref, record.revision, "", f"referee: run {record.run_id}")
        self._point("branch made")
        if not made:
            self._log.forget()
            return Landing(how=f"branch:{record.name}", conflicts=(record.ref,))
        self._log.done(record)
        return record.landing()

    def _finish(self, record: CommitRecord) -> Landing:
        """The files have landed: move the branch and the index, or put the files back."""
        try:
            moved = self._advance(record)
        except (UsageError, WorldFault, OSError) as error:
            if self._history.reaches(record.ref, record.revision):
                raise WorldFault(
                    f"{error}; the commit is made, and the next referee command here brings the index after it"
                ) from error
            self._landings.rollback(record.run_id)
            self._log.forget()
            raise
        if moved:
            self._landings.rollback(record.run_id)
            self._log.forget()
            return Landing(how="commit", conflicts=moved)
        self._log.done(record)
        return record.landing()

    def _advance(self, record: CommitRecord) -> tuple[str, ...]:
        """Branch and index together; what the user has moved instead, if anything: then neither has moved."""
        with self._index.held():
            self._point("index held")
            ready = self._index.prepare(record.staged)
            self._point("index prepared")
            if not self._history.reaches(record.ref, record.revision):  # or a crash came later, and it is made
                if not ready:
                    return record.landing().written
                why = f"referee: run {record.run_id}"
                on_it = self._history.branch() == record.ref
                if not on_it or not self._history.move(record.ref, record.revision, record.parent, why):
                    return ("HEAD",)
            self._point("branch moved")
            if ready:
                self._index.publish()
            self._point("index moved")
            return ()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._root.check()
        try:
            with self._private.locked(b"commit"):
                self._settle()
                yield
        except OSError as error:
            fault = refused(error, self._history.folder)
            if not self._log.open:
                raise fault from error
            raise WorldFault(
                f"{fault}; a commit is half made: the next referee command here ends or undoes it"
            ) from error

    def _settle(self) -> None:
        """Go on where a crash left a commit, forward or back."""
        record = self._log.interrupted()
        if record is None:
            return
        self._index.free()
        made = self._history.reaches(record.ref, record.revision)
        self._unsaid.append(f"ended the interrupted commit of run {record.run_id} on {record.name}")
        if record.undoing:
            if made:
                self._log.forget()  # the branch had not moved: the commit stands
            else:
                self._back.commit(record)
        elif record.new_branch:
            if made:
                self._log.done(record)
            else:
                self._log.forget()
        elif self._landings.landed(record.run_id) is None:
            self._log.forget()
        else:
            self._finish(record)
