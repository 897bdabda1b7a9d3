"""Taking a commit of ours back, as long as nothing of the user's builds on it; else the words for how to undo it."""

from __future__ import annotations

from referee.adapters.git.commit_log import CommitLog, CommitRecord
from referee.adapters.git.history import History
from referee.adapters.git.index import Index, Restaged
from referee.adapters.git.landing import Landings
from referee.adapters.git.rename import Point
from referee.domain.errors import UsageError
from referee.ports import Restoration

SHORT = 12


class TakeBack:
    """Undoes one commit. The caller holds the lock of commits."""

    def __init__(self, history: History, index: Index, landings: Landings, log: CommitLog, point: Point) -> None:
        self._history = history
        self._index = index
        self._landings = landings
        self._log = log
        self._point = point

    def check(self, record: CommitRecord) -> None:
        """Raises `UsageError`, with the command that undoes it, if the commit is not only ours any more."""
        short = record.revision[:SHORT]
        if (self._history.branch(), self._history.head()) != (record.ref, record.revision):
            raise UsageError(
                f"run {record.run_id} was committed as {short}, and HEAD is elsewhere by now; history is not "
                f"rewritten: to undo it with a new commit, type git revert {short}"
            )
        if self._history.must("for-each-ref", "--count=1", f"--contains={record.revision}", "refs/remotes"):
            raise UsageError(
                f"{short}, the commit of run {record.run_id}, is on a remote already; history is not rewritten: "
                f"to undo it with a new commit, type git revert {short}"
            )

    def commit(self, record: CommitRecord) -> Restoration:
        """Branch, index and files back to what they were; `check` was called, or a crash interrupted this."""
        with self._index.held():
            back = tuple(Restaged(path=s.path, before=s.after, after=s.before) for s in record.staged)
            ready = self._index.prepare(back)
            self._point("index prepared")
            if self._history.reaches(record.ref, record.revision) and not self._history.move(
                record.ref, record.parent, record.revision, f"referee: roll back run {record.run_id}"
            ):
                self._log.forget()
                raise UsageError(f"{record.name} moved at this moment; nothing was changed, try again")
            self._point("branch moved back")
            if ready:
                self._index.publish()
            self._point("index moved back")
        done = self._landings.rollback(record.run_id)
        self._log.undone(record)
        said = f"took commit {record.revision[:SHORT]} back from {record.name}"
        if not ready:
            said += "; what you have staged since is left as it is"
        return done.model_copy(update={"said": (said, *done.said)})

    def branch(self, record: CommitRecord) -> Restoration:
        """Delete the branch. Raises `UsageError` if it is in use or has moved on."""
        at = self._history.commit_at(record.ref)
        if at and at != record.revision:
            raise UsageError(
                f"the branch {record.name} has moved on since run {record.run_id} made it; "
                f"delete it yourself if you mean to: git branch -D {record.name}"
            )
        if at and self._history.must("for-each-ref", "--format=%(worktreepath)", record.ref).strip():
            raise UsageError(f"the branch {record.name} is checked out; leave it first: git switch -")
        if at and not self._history.move(record.ref, "", record.revision, ""):
            raise UsageError(f"the branch {record.name} moved at this moment; nothing was changed, try again")
        self._log.undone(record)
        said = (
            f"deleted the branch {record.name} (it was {record.revision})" if at else f"{record.name} is gone already"
        )
        pushed = self._history.must("for-each-ref", "--format=%(refname)", f"refs/remotes/*/{record.name}").decode()
        if pushed:
            remote = pushed.split("/")[2]
            said += f"; it was pushed: to delete it there as well, type git push {remote} --delete {record.name}"
        return Restoration(said=(said,))
